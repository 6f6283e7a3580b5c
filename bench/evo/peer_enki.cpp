// The task of `rossum bench evo` in Enki: one robot with two wheels and 8 proximity sensors among 50 obstacles.
//
// Usage: peer_enki TASK SECONDS RANGE_MM discs|squares. For each line on stdin it runs for SECONDS of CPU time and prints one
// line of JSON; it exits at the end of stdin.

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <enki/PhysicalEngine.h>
#include <enki/interactions/IRSensor.h>
#include <enki/robots/DifferentialWheeled.h>

namespace {

// Enki uses cm, the task mm
constexpr double MM = 0.1;
constexpr double ARENA = 2000 * MM;
constexpr double LENGTH = 80 * MM;
constexpr double WIDTH = 60 * MM;
constexpr double HEIGHT = 50 * MM;
constexpr double SENSOR_HEIGHT = 25 * MM;
constexpr int SENSORS = 8;
// the controller ignores anything farther away, whatever the sensors' range
constexpr double CLOSE = 200 * MM;
// a step is at most 8 mm
constexpr double STEP_SECONDS = 0.05;
constexpr double SPEED = 160 * MM;
constexpr int STEPS_OF_A_TRIAL = 500;

// Enki's own infrared sensor: 3 rays within 30 degrees.
struct Proximity : Enki::IRSensor {
    Proximity(Enki::Robot *owner, Enki::Vector position, double direction, double range)
        : IRSensor(owner, position, SENSOR_HEIGHT, direction, range, 1, 0, 1) {}

    double closeness() const {
        double nearest = CLOSE;
        for (unsigned ray = 0; ray < getRayCount(); ++ray)
            nearest = std::min(nearest, getRayDist(ray));
        return 1 - nearest / CLOSE;
    }
};

struct Rover : Enki::DifferentialWheeled {
    // numbered from straight ahead to the left
    std::vector<Proximity> sensors;
    double driven = 0;
    long bumps = 0;

    explicit Rover(double range) : DifferentialWheeled(WIDTH, SPEED, 0) {
        setRectangular(LENGTH, WIDTH, HEIGHT, 0.3);
        sensors.reserve(SENSORS);
        for (int i = 0; i < SENSORS; ++i) {
            double direction = 2 * M_PI * i / SENSORS, x = std::cos(direction), y = std::sin(direction);
            // on the edge of the body
            double out = 0.5 / std::max(std::abs(x) / LENGTH, std::abs(y) / WIDTH);
            sensors.emplace_back(this, Enki::Vector(out * x, out * y), direction, range);
            addLocalInteraction(&sensors.back());
        }
    }

    // turns away from the side with more obstacles, and to the right if there is one ahead
    void controlStep(double dt) override {
        auto close = [this](int i) { return sensors[i].closeness(); };
        double ahead = 1 - 0.6 * std::max({close(7), close(0), close(1)});
        double right = close(1) + close(2) / 2 - close(7) - close(6) / 2 + close(0);
        leftSpeed = SPEED * std::clamp(ahead + right, -1.0, 1.0);
        rightSpeed = SPEED * std::clamp(ahead - right, -1.0, 1.0);
        driven += std::abs(leftSpeed + rightSpeed) / 2 * dt / MM;
        DifferentialWheeled::controlStep(dt);
    }

    void collisionEvent(Enki::PhysicalObject *) override { ++bumps; }
};

struct Start {
    double x, y, direction;
};

// Adds the obstacles to the world. They are immovable, which Enki expresses as a negative mass.
std::vector<Start> read_task(Enki::World &world, const char *file, bool as_discs) {
    std::vector<Start> starts;
    std::ifstream lines(file);
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string what;
        double x, y, radius, degrees;
        words >> what >> x >> y;
        if (what == "obstacle" && words >> radius >> degrees) {
            auto *obstacle = new Enki::PhysicalObject;
            double side = radius * std::sqrt(M_PI) * MM;
            if (as_discs)
                obstacle->setCylindric(radius * MM, HEIGHT, -1);
            else
                obstacle->setRectangular(side, side, HEIGHT, -1);
            obstacle->pos = Enki::Point(x * MM, y * MM);
            obstacle->angle = degrees * M_PI / 180;
            world.addObject(obstacle);
        } else if (what == "start" && words >> degrees) {
            starts.push_back({x * MM, y * MM, degrees * M_PI / 180});
        }
    }
    return starts;
}

double processor_seconds() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

}

int main(int argc, char **argv) {
    if (argc != 5) {
        std::cerr << "usage: peer_enki TASK SECONDS RANGE_MM discs|squares\n";
        return 2;
    }
    Enki::World world(ARENA, ARENA);
    std::vector<Start> starts = read_task(world, argv[1], argv[4] == std::string("discs"));
    if (starts.empty()) {
        std::cerr << "peer_enki: " << argv[1] << " has no start\n";
        return 1;
    }
    double seconds = std::stod(argv[2]);
    auto *rover = new Rover(std::stod(argv[3]) * MM);
    world.addObject(rover);
    std::string line;
    while (std::getline(std::cin, line)) {
        long steps = 0, bumps = rover->bumps;
        double driven = rover->driven, began = processor_seconds(), took;
        do {
            for (const Start &start : starts) {
                rover->pos = Enki::Point(start.x, start.y);
                rover->angle = start.direction;
                rover->speed = Enki::Vector(0, 0);
                rover->angSpeed = 0;
                for (int i = 0; i < STEPS_OF_A_TRIAL; ++i)
                    world.step(STEP_SECONDS);
                steps += STEPS_OF_A_TRIAL;
            }
            took = processor_seconds() - began;
        } while (took < seconds);
        std::cout << "{\"steps\": " << steps << ", \"cpu_s\": " << took << ", \"driven_mm\": " << rover->driven - driven
                  << ", \"bumps\": " << rover->bumps - bumps << "}" << std::endl;
    }
}
