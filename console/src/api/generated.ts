// Generated from crates/wire/src/console by scripts/generate-console-types. Do not edit.

/** A listening endpoint. */
export type Address = {
  /** Human-readable name of the service. */
  title: string,
  /** `tcp`, `udp`, `http` or `https`. */
  kind: string,
  /** Host and port. */
  address: string, };

/** Static description of a robot. */
export type AgentInfo = {
  /** Name of the agent. */
  name: string,
  /** Name of its model. */
  robot: string,
  /** Index of its first body in the scene; -1 if it has none. */
  body: number,
  /** Motors, in order. */
  motors: Array<Motor>,
  /** Sensors: outputs, then infos. */
  senses: Array<Sensor>, };

/** Readings of one agent. */
export type AgentReadings = {
  /** Name of the agent. */
  name: string,
  /** Simulated time since the last reset, in s. */
  time: number,
  /** One value per motor, in physical units. */
  motors: Array<number>,
  /** One normalised value per sensor. */
  senses: Array<number>, };

/** Kind of a polygon in an arena. */
export type ArenaKind = "ground" | "obstacle" | "deadly" | "terrain" | "other";

/** An arena, seen from above. */
export type ArenaPlan = {
  /** Human-readable name. */
  title: string,
  /** Minimum x, minimum y, maximum x, maximum y. */
  bounds: [number, number, number, number],
  /** In drawing order. */
  polygons: Array<ArenaPolygon>, };

/** A polygon in an arena. */
export type ArenaPolygon = {
  /** Vertices. */
  points: Array<[number, number]>,
  /** Kind of the polygon. */
  kind: ArenaKind,
  /** As `#rrggbb`. */
  colour: string,
  /** Height above the ground. */
  height: number, };

/** The best fitness of a population. */
export type BestFitness = {
  /** Name of the population; empty if there is one only. */
  population: string,
  /** The fitness. */
  fitness: number, };

/** A robot body in a menu. */
export type BodyChoice = {
  /** Name used in commands. */
  name: string,
  /** Human-readable name. */
  title: string,
  /** Name of its own fitness function. */
  fitness: string, };

/** An option in a menu. */
export type Choice = {
  /** Name used in commands. */
  name: string,
  /** Human-readable name. */
  title: string, };

/** A connected client. */
export type Client = {
  /** Id of the connection. */
  id: number,
  /** `soccer`, `osp`, `odcp`, `oz`, `console` and others. */
  protocol: string,
  /** Remote address; may be empty. */
  peer: string,
  /** Names of the agents it controls. */
  agents: Array<string>,
  /** Rights of a console. */
  role: Role | null,
  /** Whether the world waits for it in each tick. */
  lockstep: boolean, };

/** A command. Lengths are in m, angles in rad. */
export type Command =
  | { "do": "watch",
      /** The new subscriptions. */
      topics: Array<Topic>, }
  | { "do": "follow",
      /** Its name; none to stop. */
      agent: string | null, }
  | { "do": "pause" }
  | { "do": "play" }
  | { "do": "step" }
  | { "do": "reset",
      /** New seed of the world's random numbers. */
      seed?: number | null, }
  | { "do": "speed",
      /** Multiple of real time, 0.1 to 10. */
      factor: number, }
  | { "do": "act",
      /** Name of the agent. */
      agent: string,
      /** Pairs of motor index and target in physical units. */
      motors: Array<[number, number]>, }
  | { "do": "push",
      /** Name of the agent. */
      agent: string,
      /** Change of its first body's velocity, in m/s. */
      velocity: [number, number, number], }
  | { "do": "list",
      /** Ends with a slash. */
      path: string, }
  | { "do": "search",
      /** Words that must all occur in the name. */
      text: string, }
  | { "do": "read",
      /** Full name. */
      variable: string, }
  | { "do": "write",
      /** Full name. */
      variable: string,
      /** New value as text. */
      value: string, }
  | { "do": "observe",
      /** Full names; at most 64. */
      variables: Array<string>, }
  | { "do": "kick-off",
      /** Side that kicks off; random if absent. */
      side: Side | null, }
  | { "do": "drop-ball" }
  | { "do": "place-ball",
      /** New position. */
      position: [number, number, number],
      /** New velocity, in m/s. */
      velocity?: [number, number, number], }
  | { "do": "place-player",
      /** Side of its team. */
      side: Side,
      /** Player number. */
      number: number,
      /** New position of its torso. */
      position: [number, number],
      /** New heading, in rad. */
      heading: number, }
  | { "do": "play-mode",
      /** Name of the mode. */
      mode: string, }
  | { "do": "demo",
      /** Players per team. */
      players: number, }
  | { "do": "stop-demo" }
  | { "do": "puppet",
      /** The puppet's command. */
      order: PuppetCommand, }
  | { "do": "name-face",
      /** Id of the face. */
      face: number,
      /** The person's name. */
      name: string, }
  | { "do": "forget-face",
      /** The person's name. */
      name: string, }
  | { "do": "change-simulators",
      /** The new settings. */
      settings: SimulatorSettings, }
  | { "do": "start-run",
      /** Parameters of the run. */
      run: NewRun, }
  | { "do": "stop-run",
      /** Name of the run. */
      name: string, }
  | { "do": "resume-run",
      /** Name of the run. */
      name: string,
      /** New total number of generations, 0: until the run is stopped; as planned if absent. */
      generations?: number | null, }
  | { "do": "run",
      /** Name of the run; none to stop. */
      name: string | null, }
  | { "do": "replay",
      /** Name of the run. */
      run: string,
      /** The generation, from 1; the best of all generations if absent. */
      generation?: number | null, }
  | { "do": "films" }
  | { "do": "open-film",
      /** File name. */
      name: string, }
  | { "do": "close-film" }
  | { "do": "frames",
      /** Number of the first frame. */
      from: number,
      /** Number of frames; at most 250. */
      count: number, }
  | { "do": "save",
      /** Name of the item, at most 64 bytes. */
      key: string,
      /** Arbitrary JSON, at most 64 kB. */
      value: unknown, };

/** Health of one component of the server. */
export type Component = {
  /** Human-readable name. */
  name: string,
  /** Whether it works. */
  works: boolean,
  /** Human-readable details. */
  words: string, };

/** A decision of the referee. */
export type Decision = {
  /** Sequence number. */
  number: number,
  /** Game clock, in s. */
  play_time: number,
  /** Human-readable description. */
  text: string, };

/** A demo game. */
export type DemoGame = {
  /** Players per team. */
  players: number,
  /** Human-readable progress. */
  note: string, };

/** Options for new evolutionary runs. */
export type EvolutionInfo = {
  /** Available worlds. */
  worlds: Array<WorldChoice>,
  /** Available robot bodies. */
  bodies: Array<BodyChoice>,
  /** Available fitness functions. */
  fitnesses: Array<Choice>,
  /** Names of the available algorithms. */
  algorithms: Array<string>,
  /** Unsuitable combinations. */
  objections: Array<Objection>,
  /** What a new run evolves unless the user chooses otherwise. */
  default_run: NewRun,
  /** The same of two populations that evolve against each other. */
  default_coevolution: NewRun,
  /** Folder of the runs. */
  folder: string, };

/** A face in the camera picture. Lengths are fractions of the picture's width and height, from its upper left corner. */
export type FaceBox = {
  /** Constant while the face stays in view. */
  id: number,
  /** Empty if the face is unknown. */
  name: string,
  /** Confidence of the detector, 0 to 1. */
  confidence: number,
  /** Left edge. */
  x: number,
  /** Upper edge. */
  y: number,
  /** Width of the box. */
  width: number,
  /** Height of the box. */
  height: number, };

/** State of a game. */
export type Game = {
  /** Game clock, in s. */
  play_time: number,
  /** Name of the play mode. */
  mode: string,
  /** Names of the left and the right team; null until its first player joins. */
  teams: [string | null, string | null],
  /** Goals of the left and the right team. */
  score: [number, number],
  /** 1 or 2. */
  half: number,
  /** Players of both teams. */
  players: Array<Player>,
  /** Index of the ball's body in the scene. */
  ball: number | null,
  /** The demo game, if one is running. */
  demo: DemoGame | null, };

/** A metric to show and plot. */
export type Gauge = {
  /** Human-readable name. */
  name: string,
  /** Unit of the value; may be empty. */
  unit: string,
  /** Current value. */
  value: number,
  /** Explanation. */
  help: string, };

/** A gesture. */
export type GestureInfo = {
  /** Id used in commands. */
  id: number,
  /** Human-readable name. */
  name: string,
  /** Tag that starts the gesture in spoken text, without brackets. */
  tag: string,
  /** Duration. */
  seconds: number, };

/** What a browser needs to know first. */
export type Hello = {
  /** Version of the protocol. */
  api: number,
  /** Version of the program. */
  version: string,
  /** Title of the scenario. */
  title: string,
  /** Rights of this browser. */
  role: Role,
  /** Id of this connection, as in `state.clients`. */
  you: number,
  /** Simulated seconds per tick. */
  tick_seconds: number,
  /** All listening endpoints. */
  addresses: Array<Address>,
  /** The soccer game, if the scenario has one. */
  soccer: SoccerInfo | null,
  /** The puppet, if the scenario has one. */
  puppet: PuppetInfo | null,
  /** Options of evolutionary runs, if the server starts any. */
  evolution: EvolutionInfo | null,
  /** Path of the recording being written, if any. */
  recording: string | null, };

/** A possible transcription of recognised speech. */
export type Hypothesis = {
  /** Transcribed text. */
  text: string,
  /** 0 to 1. */
  confidence: number, };

/** A line of the log. */
export type LogLine = {
  /** Seconds since 1970-01-01T00:00:00Z. */
  time: number,
  /** `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`. */
  level: string,
  /** The message with its fields. */
  text: string, };

/** A triangle mesh. */
export type Mesh = {
  /** Coordinates of the vertices, in m: x, y, z of the first, then of the next. */
  vertices: Array<number>,
  /** Vertex indices, three per triangle. */
  faces: Array<number>, };

/** A text frame from the server. */
export type Message =
  | { "type": "hello" } & Hello
  | { "type": "scene" } & Scene
  | { "type": "state" } & WorldState
  | { "type": "agent" } & AgentReadings
  | { "type": "events",
      /** In chronological order. */
      events: Array<WorldEvent>, }
  | { "type": "game" } & Game
  | { "type": "decisions",
      /** In chronological order. */
      decisions: Array<Decision>, }
  | { "type": "puppet" } & Puppet
  | { "type": "puppet-events",
      /** In chronological order. */
      events: Array<PuppetEvent>, }
  | { "type": "health",
      /** Components that have reported a state. */
      parts: Array<Component>,
      /** Human-readable metrics. */
      gauges: Array<Gauge>, }
  | { "type": "log",
      /** In chronological order. */
      lines: Array<LogLine>, }
  | { "type": "evolution",
      /** Latest first. */
      runs: Array<RunSummary>,
      /** The server's own simulators. */
      simulators: SimulatorsInfo, }
  | { "type": "run" } & RunDetail
  | { "type": "replay" } & Replay
  | { "type": "list",
      /** The listed path. */
      path: string,
      /** Names of the folders under it. */
      folders: Array<string>,
      /** Variables directly under it. */
      variables: Array<Variable>, }
  | { "type": "found",
      /** The search text. */
      search: string,
      /** Number of matches; `variables` may list fewer. */
      total: number,
      /** The first matches. */
      variables: Array<Variable>, }
  | { "type": "value",
      /** Full name. */
      variable: string,
      /** Value as text. */
      value: string, }
  | { "type": "values",
      /** Values as text, by full name. */
      values: { [key in string]: string }, }
  | { "type": "films",
      /** The folder searched. */
      folder: string,
      /** Latest first. */
      films: Array<PlaybackEntry>, }
  | { "type": "film" } & PlaybackState
  | { "type": "saved",
      /** Name of the item. */
      key: string,
      /** Arbitrary JSON. */
      value: unknown, }
  | { "type": "done",
      /** The command's id. */
      id: number, }
  | { "type": "refused",
      /** The command's id, if it had one. */
      id?: number,
      /** Human-readable reason. */
      why: string, };

/** A motor of a robot. */
export type Motor = {
  /** Unique within the robot. */
  name: string,
  /** Quantity it controls. */
  kind: MotorKind,
  /** Range of the target, in physical units. */
  range: [number, number], };

/** Quantity a motor controls. */
export type MotorKind = "position" | "velocity" | "torque";

/** An id and its name. */
export type NamedId = {
  /** Id used in commands. */
  id: number,
  /** Human-readable name. */
  name: string, };

/** An individual's neural network. */
export type Net = {
  /** Generation of the individual, from 1. */
  generation: number,
  /** Number of the individual in its generation. */
  individual: number,
  /** Fitness of the individual. */
  fitness: number,
  /** Names of the input neurons. */
  inputs: Array<string>,
  /** Number of hidden neurons. */
  hidden: number,
  /** Names of the output neurons. */
  outputs: Array<string>,
  /** Connections. Neurons are numbered inputs first, then hidden ones, then outputs. */
  weights: Array<Weight>, };

/** Parameters of a new evolutionary run. */
export type NewRun = {
  /** Addresses of Robot Simulators; if empty, the run evaluates individuals in its own process. */
  simulators: Array<string>,
  /** Name of the world. */
  world: string,
  /** Name of the body. */
  body: string,
  /** Name of the fitness function; the body's own if absent. */
  fitness?: string | null,
  /** Name of the algorithm. */
  algorithm: string,
  /** Number of generations; 0: until the run is stopped. */
  generations: number,
  /** Individuals per generation; the algorithm's default if absent. */
  population?: number | null,
  /** Number of hidden neurons; the algorithm's default if absent. */
  hidden?: number | null,
  /** Seed of the random number generator. */
  seed: number,
  /** Ends the run once an individual reaches this fitness. */
  target?: number | null,
  /** A second population that evolves against the first one, in the run's own process. */
  rival?: Rival | null, };

/** A combination of body, fitness function and world that is unsuitable. */
export type Objection = {
  /** Name of the body. */
  body: string,
  /** Name of the fitness function. */
  fitness: string,
  /** Name of the world; null if it is so in all worlds. */
  world: string | null,
  /** The kind of the robots, if they evolve against another population; null if they do not. Of no meaning if it is so in
  * all worlds.
  */
  kind: string | null,
  /** Why, in words. */
  reason: string, };

/** A recording or log that can be played back. */
export type PlaybackEntry = {
  /** File name. */
  name: string,
  /** File size. */
  bytes: number,
  /** File format. */
  kind: PlaybackKind, };

/** Format of a file that can be played back. */
export type PlaybackKind = "recording" | "log";

/** The scene of a playback from a given frame on. */
export type PlaybackScene = {
  /** First frame that shows the scene. */
  from: number,
  /** The scene. */
  scene: Scene, };

/** State of an open playback. */
export type PlaybackState = {
  /** File name. */
  name: string,
  /** Number of frames loaded so far. */
  ready: number,
  /** Whether loading has ended. */
  complete: boolean,
  /** Why loading stopped before the end of the file, if it did. */
  trouble: string | null,
  /** Frames per second of playback time. */
  rate: number,
  /** Scenes not sent before. A playback has several if robots came or went. */
  scenes: Array<PlaybackScene>,
  /** Timeline marks not sent before: goals, play modes and others. */
  marks: Array<TimelineMark>, };

/** A player. */
export type Player = {
  /** Side of its team. */
  side: Side,
  /** Player number. */
  number: number,
  /** Name of the agent. */
  agent: string,
  /** Index of its first body in the scene. */
  body: number, };

/** Details of a population. The lists have one entry for each generation, or for some of them if there are thousands. */
export type PopulationDetail = {
  /** Name of the population; empty if there is one only. */
  population: string,
  /** Numbers of the generations, from 1. */
  generations: Array<number>,
  /** Best fitness of each generation. */
  best: Array<number>,
  /** Mean fitness of each generation. */
  mean: Array<number>,
  /** Worst fitness of each generation. */
  worst: Array<number>,
  /** Best fitness up to and including each generation. */
  best_so_far: Array<number>,
  /** Diversity of each generation's genomes. */
  diversity: Array<number>,
  /** What the best individual so far does, and the best of the first generation, in words; empty at first. */
  learnt: string,
  /** Neural network of the best individual so far, or of the best of the last generation if there are two populations. */
  net: Net | null, };

/** State of the puppet. */
export type Puppet = {
  /** Servo positions, 0 to 1. */
  positions: Array<number>,
  /** Weight of each subsystem, 0 to 1. */
  weights: { [key in string]: number },
  /** Id of the current expression. */
  expression: number,
  /** Id of the current gaze mode. */
  look_at: number,
  /** Blinks per second. */
  blinks: number,
  /** Volume of the voice, 0 to 1. */
  volume: number,
  /** Pitch of the voice, 0.5 to 2. */
  pitch: number,
  /** Whether it is speaking or has text left to speak. */
  speaking: boolean,
  /** Number of gestures in progress. */
  gestures: number,
  /** Faces in the camera picture. */
  faces: Array<FaceBox>,
  /** Names of all known faces. */
  known: Array<string>,
  /** Whether only one operator at a time may control it. */
  one_at_a_time: boolean,
  /** Id of the client in control, if one is. */
  in_control: number | null,
  /** Number of connected operators. */
  operators: number, };

/** A command for the puppet. */
export type PuppetCommand = "reset"
  | { "speak": string }
  | { "gesture": number }
  | { "volume": number }
  | { "pitch": number }
  | { "expression": number }
  | { "look-at": number }
  | { "blink": number }
  | { "weigh": [string, number] }
  | { "servo": [number, number] }
  | { "servos": Array<number> };

/** An event of the puppet. */
export type PuppetEvent = {
  /** Sequence number. */
  number: number,
  /** Seconds since the puppet started. */
  time: number, } & ({ "what": "speak-begun",
  /** Number of the speech. */
  speech: number, }
  | { "what": "speak-done",
      /** Number of the speech. */
      speech: number, }
  | { "what": "speak-gesture",
      /** Id of the gesture. */
      gesture: number, }
  | { "what": "gesture-done",
      /** Id of the gesture. */
      gesture: number, }
  | { "what": "utterance",
      /** Most likely first. */
      options: Array<Hypothesis>, });

/** Static description of the puppet. */
export type PuppetInfo = {
  /** The robot's own name. */
  name: string,
  /** Name of the agent. */
  robot: string,
  /** Available gestures. */
  gestures: Array<GestureInfo>,
  /** Available facial expressions. */
  expressions: Array<NamedId>,
  /** Available gaze modes. */
  look_ats: Array<NamedId>,
  /** Servos, in order. */
  servos: Array<ServoInfo>,
  /** Names of the motion subsystems, each of which has a weight. */
  subsystems: Array<string>, };

/** An individual's trials in its arena, seen from above. Lengths are in m. */
export type Replay = {
  /** Name of the run. */
  run: string,
  /** Generation of the individual, from 1. */
  generation: number,
  /** The arena. */
  arena: ArenaPlan,
  /** The individual, and those that it meets; of two populations, the best of each. */
  robots: Array<ReplayRobot>,
  /** Seconds per step. */
  step_seconds: number, };

/** A robot in a replay. */
export type ReplayRobot = {
  /** Name of its population; empty if there is one only. */
  population: string,
  /** Colour of its kind, as `#rrggbb`. */
  colour: string,
  /** Fitness reached in this replay. */
  fitness: number,
  /** Outline of the robot around its origin, facing along x. */
  shape: Array<[number, number]>,
  /** One path per trial. The robots begin each trial together. */
  trials: Array<TrialPath>, };

/** A text frame from a browser: a command, and the id under which its answer is expected. */
export type Request = { id?: number } & Command;

/** A population that evolves against another. */
export type Rival = {
  /** Name of the body. */
  body: string,
  /** Name of the fitness function; the body's own if absent. */
  fitness?: string | null, };

/** Rights of a browser, given by the token in its link. */
export type Role = "operator" | "viewer";

/** Details of a run. */
export type RunDetail = {
  /** Name of the run. */
  name: string,
  /** One population, or two that evolve against each other. */
  populations: Array<PopulationDetail>, };

/** Whether a process is working on a run. */
export type RunState = "running" | "stopped" | "finished" | "failed";

/** One run in the list of runs. */
export type RunSummary = {
  /** Name of the run and of its folder. */
  name: string,
  /** Name of the algorithm. */
  algorithm: string,
  /** Body and world, as in `platine in obstacles`; or the addresses of the Robot Simulators. */
  place: string,
  /** Seed of the random number generator. */
  seed: number,
  /** Planned number of generations; 0: until the run is stopped. */
  generations: number,
  /** Number of completed generations. */
  generation: number,
  /** The best fitness so far; of two populations that evolve against each other, that of the last generation of each. Empty
  * before the end of the first generation.
  */
  best: Array<BestFitness>,
  /** Whether a process is working on it. */
  state: RunState,
  /** Error message of a failed run, or a remark; may be empty. */
  words: string,
  /** Whether individuals are evaluated in the run's own process; only then can they be replayed. */
  here: boolean,
  /** What its workers have done; null if it is not evaluated on a cluster. */
  workers: RunWorkers | null, };

/** What the workers of a run on a cluster have done. */
export type RunWorkers = {
  /** Workers that are ready. */
  workers: number,
  /** Workers lost since the run was begun or resumed; each is replaced. */
  lost: number,
  /** Tasks handed out again since then, because their worker was lost. */
  retried: number,
  /** Finished individuals of the generation in progress, or of the last one. */
  finished: number,
  /** Individuals of that generation. */
  total: number, };

/** Bodies, their appearance, and agents. */
export type Scene = {
  /** Incremented with every change; pose frames carry it. */
  generation: number,
  /** Names of the bodies. The first is the world; body `i` has entry `i - 1` of a pose frame. */
  bodies: Array<string>,
  /** Index of each body's parent. */
  parents: Array<number>,
  /** Everything to draw. */
  looks: Array<Visual>,
  /** Meshes referenced by `looks`. */
  meshes: Array<Mesh>,
  /** Robots. */
  agents: Array<AgentInfo>, };

/** A sensor value of a robot. */
export type Sensor = {
  /** Unique within the robot. */
  name: string,
  /** Whether it is an info value: not meant for controllers. */
  info: boolean,
  /** Range of the normalised value. */
  range: [number, number], };

/** A servo. */
export type ServoInfo = {
  /** Id used in commands; the index in `positions`. */
  id: number,
  /** Name. */
  name: string,
  /** Part of the body it moves, such as `left arm`. */
  part: string, };

/** A side of the soccer field. */
export type Side = "left" | "right";

/** A port of a simulator. */
export type SimulatorPort = {
  /** `Robot Simulator`, `World Simulator` or `World Simulator for prey`. */
  title: string,
  /** The port. */
  port: number,
  /** Where clients reach it. */
  addresses: Array<string>, };

/** Settings of a server's own simulators. */
export type SimulatorSettings = {
  /** Port of the Robot Simulator; absent if the server has none. */
  robot_port?: number | null,
  /** Ports of the World Simulator, one for each kind of robots. */
  world_ports: Array<number>,
  /** The World Simulator that the robots use: `host` or `host:port`; empty for the default port of this machine. If
  * absent, their world is in the server's own process.
  */
  robot_world?: string | null, };

/** A server's own simulators of evolving robots. */
export type SimulatorsInfo = {
  /** Port of the Robot Simulator, if the server runs one. */
  robot: SimulatorPort | null,
  /** Ports of the World Simulator, one for each kind of robots; empty if the server runs none. */
  world: Array<SimulatorPort>,
  /** Address of the World Simulator that the robots use; null if their world is in the server's own process. */
  robot_world: string | null, };

/** Static description of a soccer game. */
export type SoccerInfo = {
  /** Names of all play modes. */
  modes: Array<string>,
  /** Length of the field along x and width along y, in m. */
  field: [number, number],
  /** Maximum number of players per team. */
  players_per_team: number, };

/** A mark on a timeline. */
export type TimelineMark = {
  /** Number of the frame. */
  frame: number,
  /** Human-readable label. */
  text: string, };

/** A group of messages that a browser can subscribe to. */
export type Topic = "world" | "poses" | "soccer" | "puppet" | "video" | "sound" | "health" | "evolution";

/** The path of a robot in one trial. */
export type TrialPath = {
  /** Per step: x, y, heading in rad, and whether the robot was blocked. */
  steps: Array<[number, number, number, boolean]>,
  /** Whether the trial ended on deadly ground. */
  died: boolean,
  /** Per step: the sensor beams as x1, y1, x2, y2; empty if the robot has none. */
  beams: Array<Array<[number, number, number, number]>>, };

/** A variable of the world. */
export type Variable = {
  /** Full name. */
  name: string,
  /** Type of its value. */
  kind: string,
  /** Whether `write` may change it. */
  writable: boolean, };

/** A shape to draw, attached to a body. */
export type Visual = {
  /** Index of the body. */
  body: number,
  /** Position in the body's frame, in m. */
  position: [number, number, number],
  /** Orientation in the body's frame, w first. */
  quaternion: [number, number, number, number],
  /** Kind of shape. */
  shape: VisualShape,
  /** In m; the meaning depends on the shape. Plane: half lengths along x and y, 0 is infinite. Sphere: radius. Capsule
  * and cylinder: radius, half length along z (without a capsule's hemispheres). Ellipsoid: three radii. Box: three
  * half lengths. Mesh: index in `meshes`.
  */
  size: Array<number>,
  /** Red, green, blue and opacity, 0 to 1. */
  rgba: [number, number, number, number],
  /** Name of the material. */
  material: string | null, };

/** Kind of a shape. */
export type VisualShape = "plane" | "sphere" | "capsule" | "cylinder" | "ellipsoid" | "box" | "mesh";

/** A connection between two neurons. */
export type Weight = {
  /** Index of the source neuron. */
  from: number,
  /** Index of the target neuron. */
  to: number,
  /** Strength; negative values inhibit. */
  weight: number, };

/** A world in a menu. */
export type WorldChoice = {
  /** Name used in commands. */
  name: string,
  /** Human-readable name. */
  title: string,
  /** The two kinds of robots that can evolve against each other; empty if there are none. */
  kinds: Array<string>, };

/** An event in the world. */
export type WorldEvent = {
  /** Tick that raised it. */
  tick: number,
  /** Simulated time since the last reset, in s. */
  time: number,
  /** Name of the event. */
  name: string, };

/** The clock and the connected clients. */
export type WorldState = {
  /** Ticks since the start. */
  tick: number,
  /** Ticks since the last reset. */
  step: number,
  /** Number of episodes started; a reset starts a new one. */
  tries: number,
  /** Simulated time since the last reset, in s. */
  time: number,
  /** Whether the simulation is paused. */
  paused: boolean,
  /** `realtime`, `lockstep`, `eager` or `fast`. */
  pace: string,
  /** Multiple of real time, where the pace follows the wall clock. */
  speed: number,
  /** Recent rate. */
  ticks_per_second: number,
  /** Why the simulation has halted until the next reset, if it has. */
  standstill: string | null,
  /** Connected clients. */
  clients: Array<Client>, };
