use physics::{Limits, Source};
use proptest::prelude::*;
use world::{Setup, World};

use super::*;

const WIDTH: usize = 160;
const HEIGHT: usize = 120;

fn world(bodies: &str) -> World {
    let text = format!("<mujoco model='test'><compiler angle='degree'/><worldbody>{bodies}</worldbody></mujoco>");
    World::new(&Setup::new(Source::from_text("test", &text, &Limits::default()).unwrap())).unwrap()
}

fn snapshot(bodies: &str) -> Arc<Snapshot> {
    world(bodies).snapshot()
}

/// At the height of 1 m, looking along x; 90 degrees make the slope at the upper edge 1.
fn camera() -> Camera {
    Camera { pose: Pose::at(0.0, 0.0, 1.0), vertical_fov_deg: 90.0 }
}

fn render(snapshot: &Snapshot, camera: &Camera, people: &[Billboard]) -> Image {
    Renderer::new(WIDTH, HEIGHT).render(snapshot, camera, people, |_| false).clone()
}

fn is_red([red, green, blue]: [u8; 3]) -> bool {
    red > 80 && green < 60 && blue < 60
}

fn is_green([red, green, blue]: [u8; 3]) -> bool {
    green > 80 && red < 60 && blue < 60
}

/// Left, top, right and bottom of the pixels of a colour, and how many there are.
fn extent(image: &Image, colour: impl Fn([u8; 3]) -> bool) -> ([usize; 4], usize) {
    let mut edges = [usize::MAX, usize::MAX, 0, 0];
    let mut count = 0;
    for y in 0..image.height {
        for x in (0..image.width).filter(|&x| colour(image.pixel(x, y).unwrap())) {
            edges = [edges[0].min(x), edges[1].min(y), edges[2].max(x), edges[3].max(y)];
            count += 1;
        }
    }
    (edges, count)
}

fn check_extent(image: &Image, colour: impl Fn([u8; 3]) -> bool, expected: [usize; 4]) {
    let (edges, count) = extent(image, colour);
    let near = edges.iter().zip(expected).all(|(edge, expected)| edge.abs_diff(expected) <= 1);
    assert!(count > 0 && near, "{count} pixels in {edges:?} instead of {expected:?}");
}

const RED: &str = "rgba='1 0 0 1'";
const GREEN: &str = "rgba='0 1 0 1'";

#[test]
fn a_sphere_has_the_right_position_and_size() {
    // its edge is seen at the slope 0.5 / sqrt(5² - 0.5²) of 60 pixels
    let image = render(&snapshot(&format!("<geom size='0.5' pos='5 0 1' {RED}/>")), &camera(), &[]);
    check_extent(&image, is_red, [74, 54, 85, 65]);
    let (_, count) = extent(&image, is_red);
    assert!((100..=125).contains(&count), "{count}");
    // left is left and up is up
    let image = render(&snapshot(&format!("<geom size='0.5' pos='5 2.5 3.5' {RED}/>")), &camera(), &[]);
    check_extent(&image, is_red, [44, 24, 56, 36]);
}

#[test]
fn every_shape_has_the_right_outline() {
    // 4 m away: 15 pixels are 1 m
    for (geom, expected) in [
        ("type='box' size='0.01 1 0.5' pos='4 0 1'", [65, 52, 94, 67]),
        ("type='box' size='0.01 1 0.5' pos='4 0 1' euler='90 0 0'", [72, 45, 87, 74]),
        ("type='ellipsoid' size='0.2 1 0.5' pos='4 0 1'", [65, 52, 94, 67]),
        ("type='capsule' size='0.25 1' pos='4 0 1'", [76, 41, 83, 78]),
        ("type='capsule' size='0.25' fromto='4 -1 1 4 1 1'", [61, 56, 98, 63]),
        ("type='cylinder' size='0.25' fromto='4 -1 1 4 1 1'", [65, 56, 94, 63]),
        ("type='plane' size='1 0.5 1' pos='4 0 1' euler='0 -90 0'", [72, 45, 87, 74]),
    ] {
        let image = render(&snapshot(&format!("<geom {geom} {RED}/>")), &camera(), &[]);
        check_extent(&image, is_red, expected);
    }
}

#[test]
fn a_height_field_is_seen() {
    let asset =
        "<mujoco><asset><hfield name='h' nrow='3' ncol='3' size='2 2 1 0.1' elevation='0 0 0 0 1 0 0 0 0'/></asset>
        <worldbody><geom type='hfield' hfield='h' pos='4 0 0' rgba='1 0 0 1'/></worldbody></mujoco>";
    let source = Source::from_text("hill", asset, &Limits::default()).unwrap();
    let snapshot = World::new(&Setup::new(source)).unwrap().snapshot();
    let from_above = Camera { pose: Pose { quat: [0.8, 0.0, 0.6, 0.0], ..Pose::at(4.0, 0.0, 6.0) }, ..camera() };
    assert!(extent(&render(&snapshot, &from_above, &[]), is_red).1 > 300);
}

#[test]
fn nearer_surfaces_hide_farther_ones() {
    let (near, far) =
        (format!("<geom size='0.2' pos='3 0 1' {RED}/>"), format!("<geom size='0.5' pos='6 0 1' {GREEN}/>"));
    let images = [format!("{near}{far}"), format!("{far}{near}")].map(|text| render(&snapshot(&text), &camera(), &[]));
    assert_eq!(images[0], images[1]);
    let middle = images[0].pixel(WIDTH / 2, HEIGHT / 2).unwrap();
    assert!(is_red(middle) && extent(&images[0], is_green).1 > 0, "{middle:?}");
    // bodies that go through each other meet where they meet
    let image = render(
        &snapshot(&format!(
            "<geom type='box' size='1 1 1' pos='4 0 1' {RED}/><geom type='box' size='0.5 0.5 0.5' pos='3.4 0 1' {GREEN}/>"
        )),
        &camera(),
        &[],
    );
    check_extent(&image, is_green, [69, 49, 90, 70]);
}

#[test]
fn the_light_comes_from_above() {
    let image = render(&snapshot("<geom size='1' pos='3 0 1' rgba='0.6 0.6 0.6 1'/>"), &camera(), &[]);
    let [top, bottom] = [45, 75].map(|y| image.pixel(WIDTH / 2, y).unwrap()[0]);
    assert!(top > bottom + 20, "{top} {bottom}");
}

#[test]
fn transparent_surfaces_are_blended() {
    let glass = |x: f64, rgba: &str| format!("<geom type='box' size='0.01 1 1' pos='{x} 0 1' rgba='{rgba}'/>");
    let ball = format!("<geom size='0.5' pos='6 0 1' {RED}/>");
    let middle = |text: &str| render(&snapshot(text), &camera(), &[]).pixel(WIDTH / 2, HEIGHT / 2).unwrap();
    let (plain, behind) = (middle(&ball), middle(&format!("{}{ball}", glass(3.0, "0 0 1 0.3"))));
    assert!(behind[0] > 60 && behind[0] < plain[0] && behind[2] > 30, "{plain:?} {behind:?}");
    // whatever their order in the model, the nearer pane has the last word
    let panes = [glass(3.0, "0 0 1 0.8"), glass(4.0, "0 1 0 0.8")];
    let [a, b] = [[0, 1], [1, 0]].map(|order| middle(&format!("{}{}", panes[order[0]], panes[order[1]])));
    assert!(a == b && a[2] > 2 * a[1], "{a:?} {b:?}");
    // and it is no pane for what is in front of it
    assert_eq!(middle(&format!("{}{ball}", glass(8.0, "0 0 1 0.5"))), plain);
}

#[test]
fn the_ground_ends_at_the_horizon() {
    let image = render(&snapshot("<geom type='plane' size='0 0 1' rgba='0.3 0.5 0.3 1'/>"), &camera(), &[]);
    let is_ground = |[_, green, blue]: [u8; 3]| green.saturating_sub(blue) > 20;
    assert_eq!(extent(&image, is_ground).0[3], HEIGHT - 1);
    assert!((60..=70).contains(&extent(&image, is_ground).0[1]), "{:?}", extent(&image, is_ground));
    // two shades, so that motion is seen, and not more
    let mut row: Vec<u8> = (0..WIDTH).map(|x| image.pixel(x, HEIGHT - 1).unwrap()[1]).collect();
    row.sort_unstable();
    row.dedup();
    assert_eq!(row.len(), 2, "{row:?}");
    assert!(row[1] - row[0] < 12, "{row:?}");
    // a plane with an end: 4 m ahead and 1 m below is the row 60 + 60 / 4
    let image = render(&snapshot(&format!("<geom type='plane' size='1 2 1' pos='3 0 0' {RED}/>")), &camera(), &[]);
    check_extent(&image, is_red, [20, 75, 139, 89]);
    // from below there is nothing
    let below = Camera { pose: Pose::at(0.0, 0.0, -1.0), ..camera() };
    assert_eq!(
        extent(&render(&snapshot(&format!("<geom type='plane' size='0 0 1' {RED}/>")), &below, &[]), is_red).1,
        0
    );
}

/// Red on the left, green on the right; the lower half is darker.
fn flag() -> Arc<Image> {
    let mut image = Image::new(40, 40);
    for (place, pixel) in image.rgb.chunks_exact_mut(3).enumerate() {
        let bright = if place / 40 < 20 { 250 } else { 120 };
        pixel.copy_from_slice(&if place % 40 < 20 { [bright, 0, 0] } else { [0, bright, 0] });
    }
    Arc::new(image)
}

#[test]
fn people_are_upright_and_not_mirrored() {
    let nothing = snapshot("");
    for yaw in [0.0_f64, 1.0, 2.5, -2.0] {
        let (sin, cos) = yaw.sin_cos();
        let camera = Camera { pose: Pose::facing(1.0, 2.0, 1.0, yaw), ..camera() };
        let person = Billboard { picture: flag(), position: [1.0 + 3.0 * cos, 2.0 + 3.0 * sin, 1.0], width_m: 1.0 };
        let image = render(&nothing, &camera, &[person]);
        check_extent(&image, is_red, [70, 50, 79, 69]);
        check_extent(&image, is_green, [80, 50, 89, 69]);
        let part = |x: usize, y: usize| image.pixel(x, y).unwrap();
        assert_eq!((part(74, 53), part(85, 53)), ([250, 0, 0], [0, 250, 0]), "{yaw}");
        assert_eq!((part(74, 66), part(85, 66)), ([120, 0, 0], [0, 120, 0]), "{yaw}");
    }
}

#[test]
fn billboards_occlude_and_are_occluded() {
    let person = |x: f64| Billboard { picture: flag(), position: [x, 0.0, 1.0], width_m: 1.0 };
    let blue = snapshot("<geom type='box' size='0.1 9 9' pos='4 0 1' rgba='0 0 1 1'/>");
    assert_eq!(extent(&render(&blue, &camera(), &[person(6.0)]), is_red).1, 0);
    assert!(extent(&render(&blue, &camera(), &[person(2.0)]), is_red).1 > 100);
    // pictures that are broken or nowhere are left out
    let broken = Billboard { picture: Arc::new(Image { width: 9, height: 9, rgb: vec![1] }), ..person(2.0) };
    let nowhere = Billboard { position: [f64::NAN, 0.0, 1.0], ..person(2.0) };
    let endless = Billboard { width_m: f64::INFINITY, ..person(2.0) };
    let behind = person(-3.0);
    assert_eq!(render(&blue, &camera(), &[broken, nowhere, endless, behind]), render(&blue, &camera(), &[]));
    // above the camera, in it, and through it
    for position in [[0.0, 0.0, 3.0], [0.0, 0.0, 1.0], [0.01, 0.0, 1.0]] {
        render(&blue, &camera(), &[Billboard { position, ..person(0.0) }]);
    }
}

#[test]
fn distant_billboards_are_averaged() {
    let mut picture = Image::new(512, 512);
    for (place, pixel) in picture.rgb.chunks_exact_mut(3).enumerate() {
        pixel.fill(if (place % 512 + place / 512) % 2 == 0 { 240 } else { 0 });
    }
    let person = Billboard { picture: Arc::new(picture), position: [6.0, 0.0, 1.0], width_m: 2.0 };
    let image = render(&snapshot(""), &camera(), &[person]);
    for (x, y) in [(75, 55), (80, 60), (84, 66)] {
        let grey = image.pixel(x, y).unwrap()[0];
        assert!(grey.abs_diff(120) < 8, "{grey}");
    }
}

#[test]
fn geometry_around_the_camera_is_clipped() {
    for geom in [
        "type='sphere' size='0.3'",
        "type='box' size='50 50 50'",
        "type='cylinder' size='0.5 3'",
        "type='capsule' size='0.02 0.01'",
        "type='ellipsoid' size='9 0.001 0.5'",
        "type='plane' size='0 3 1'",
        "type='plane' size='3 3 1' euler='0 90 0'",
    ] {
        for pos in ["0 0 1", "0.02 0 1", "0.3 0 1", "0 0.3 1", "-0.3 0 1", "0 0 0.999999"] {
            let scene = snapshot(&format!("<geom {geom} pos='{pos}' {RED}/>"));
            render(&scene, &camera(), &[]);
            render(&scene, &Camera { vertical_fov_deg: 500.0, ..camera() }, &[]);
        }
    }
    // a floor made of a box reaches from under the camera to the horizon
    let image =
        render(&snapshot(&format!("<geom type='box' size='500 500 0.5' pos='0 0 -0.5' {RED}/>")), &camera(), &[]);
    check_extent(&image, is_red, [0, 60, WIDTH - 1, HEIGHT - 1]);
    assert!(extent(&image, is_red).1 > WIDTH * 58, "{:?}", extent(&image, is_red));
}

#[test]
fn invalid_positions_are_not_drawn() {
    let mut scene = Snapshot::clone(&snapshot(&format!(
        "<body pos='5 1 1'><freejoint/><geom size='0.5' {RED}/></body><body pos='5 -1 1'><freejoint/><geom size='0.5' {GREEN}/></body>"
    )));
    scene.positions[1][0] = f64::NAN;
    let image = render(&scene, &camera(), &[]);
    assert!(extent(&image, is_red).1 == 0 && extent(&image, is_green).1 > 0);
    scene.orientations[2] = [f64::INFINITY, 0.0, 0.0, 0.0];
    let empty = render(&snapshot(""), &camera(), &[]);
    assert_eq!(render(&scene, &camera(), &[]), empty);
    scene.positions.truncate(1);
    assert_eq!(render(&scene, &camera(), &[]), empty);
    let nowhere = Camera { pose: Pose::at(f64::NAN, 0.0, 0.0), vertical_fov_deg: f64::NAN };
    render(&scene, &nowhere, &[]);
}

#[test]
fn hidden_bodies_are_left_out_and_new_looks_are_seen() {
    let scene = snapshot(&format!("<body pos='5 0 1'><geom size='0.5' {RED}/></body>"));
    let mut renderer = Renderer::new(WIDTH, HEIGHT);
    assert_eq!(extent(renderer.render(&scene, &camera(), &[], |body| body == 1), is_red).1, 0);
    assert!(extent(renderer.render(&scene, &camera(), &[], |body| body == 0), is_red).1 > 0);
    let other = snapshot(&format!("<body pos='5 0 1'><geom size='0.5' {GREEN}/></body>"));
    let image = renderer.render(&other, &camera(), &[], |_| false);
    assert!(extent(image, is_red).1 == 0 && extent(image, is_green).1 > 0);
}

#[test]
fn samples_make_edges_smooth_and_change_nothing_else() {
    let scene = snapshot(&format!("<geom size='0.5' pos='5 0 1' {RED}/>"));
    let plain = render(&scene, &camera(), &[]);
    let mut renderer = Renderer::with_samples(WIDTH, HEIGHT, 3);
    let smooth = renderer.render(&scene, &camera(), &[], |_| false).clone();
    assert_eq!(renderer.render(&scene, &camera(), &[], |_| false), &smooth);
    check_extent(&smooth, is_red, [74, 54, 85, 65]);
    let differ = plain.rgb.chunks(3).zip(smooth.rgb.chunks(3)).filter(|(a, b)| a[1].abs_diff(b[1]) > 25).count();
    assert!((10..80).contains(&differ), "{differ}");
}

#[test]
fn pixels_and_rays_belong_together() {
    let camera = Camera { pose: Pose::facing(1.0, -2.0, 0.5, 0.7), vertical_fov_deg: 50.0 };
    for pixel in [[0.0, 0.0], [80.0, 60.0], [123.0, 17.5]] {
        let ray = camera.ray_of(pixel, WIDTH, HEIGHT);
        let point = [0, 1, 2].map(|i| camera.pose.pos[i] + 3.0 * ray[i]);
        let back = camera.pixel_of(point, WIDTH, HEIGHT).unwrap();
        assert!(back.iter().zip(pixel).all(|(a, b)| (a - b).abs() < 1e-9), "{back:?} {pixel:?}");
    }
    let behind = camera.pose.then(&Pose::at(-1.0, 0.0, 0.0)).pos;
    assert_eq!(camera.pixel_of(behind, WIDTH, HEIGHT), None);
    // where the renderer draws it
    let scene = snapshot(&format!("<geom size='0.05' pos='3 0.4 1.3' {RED}/>"));
    let looking = Camera { pose: Pose::facing(0.0, 0.5, 1.0, 0.1), ..camera };
    let [x, y] = looking.pixel_of([3.0, 0.4, 1.3], WIDTH, HEIGHT).unwrap();
    let (edges, _) = extent(&render(&scene, &looking, &[]), is_red);
    let middle = [edges[0] + edges[2] + 1, edges[1] + edges[3] + 1].map(|sum| sum as f64 / 2.0);
    assert!((middle[0] - x).abs() < 1.0 && (middle[1] - y).abs() < 1.0, "{middle:?} {x} {y}");
}

/// The robot whose eyes these are: what she sees is in front of her.
#[test]
fn alice_sees_what_is_in_front_of_her() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/robots/alice/robot.xml");
    let source = Source::from_file(&path, &Limits::default()).unwrap();
    let alice = world::Robot { name: "alice".into(), source, pose: Pose::facing(0.0, 0.0, 0.0, 0.5) };
    let ball = format!("<geom type='plane' size='9 9 1'/><geom size='0.1' pos='1.756 0.959 0.92' {RED}/>");
    let text = format!("<mujoco model='room'><worldbody>{ball}</worldbody></mujoco>");
    let room = Setup::new(Source::from_text("room", &text, &Limits::default()).unwrap());
    let scene = World::new(&Setup { robots: vec![alice], ..room }).unwrap().snapshot();
    let eye = scene.site_pose(scene.catalogue.site_named("alice:eye").unwrap()).unwrap();
    let image = render(&scene, &Camera { pose: eye, vertical_fov_deg: 60.0 }, &[]);
    let ([left, top, right, bottom], _) = extent(&image, is_red);
    assert!((left + right).abs_diff(WIDTH) < 6 && (top + bottom).abs_diff(HEIGHT) < 6, "{left} {top} {right} {bottom}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn any_camera_and_any_scene_can_be_drawn(
        pos in proptest::array::uniform3(-3.0_f64..3.0),
        quat in proptest::array::uniform4(-1.0_f64..1.0),
        scale in prop_oneof![Just(1.0), Just(1e-9), Just(1e12), Just(f64::MAX)],
        fov in prop_oneof![1.0_f64..179.0, Just(f64::INFINITY), Just(-5.0)],
    ) {
        let mut scene = Snapshot::clone(&snapshot(
            "<geom type='plane' size='0 0 1'/><body><freejoint/><geom type='box' size='1 2 0.1'/></body>
             <body pos='1 1 1'><freejoint/><geom type='capsule' size='0.4 0.5' rgba='1 0 0 0.4'/></body>",
        ));
        scene.positions[1] = pos.map(|x| x * scale);
        scene.orientations[1] = quat;
        let camera = Camera { pose: Pose { pos, quat }, vertical_fov_deg: fov };
        let person = Billboard { picture: flag(), position: pos.map(|x| x * 0.5), width_m: 0.8 };
        prop_assert_eq!(render(&scene, &camera, std::slice::from_ref(&person)), render(&scene, &camera, &[person]));
    }
}
