use std::{fs, os::unix::fs::symlink};

use proptest::prelude::*;

use super::*;
use crate::Source;

fn scan(text: &str) -> Result<Source, ModelError> {
    Source::from_text("text", text, &Limits::default())
}

/// Name of the error's variant; "accepted" if there is none.
fn kind<T>(result: &Result<T, ModelError>) -> &'static str {
    match result {
        Ok(_) => "accepted",
        Err(ModelError::Unreadable { .. }) => "unreadable",
        Err(ModelError::NotXml { .. }) => "not xml",
        Err(ModelError::OverLimit { .. }) => "over limit",
        Err(ModelError::BadNumber { .. }) => "bad number",
        Err(ModelError::OutsideFolder { .. }) => "outside",
        Err(ModelError::FileInText { .. }) => "file in text",
        Err(ModelError::IncludedTwice { .. }) => "included twice",
        Err(ModelError::Unsupported { .. }) => "unsupported",
        Err(_) => "other",
    }
}

/// The 208 bytes that made 27,000 geoms.
const BOMB: &str = r#"<mujoco><worldbody><replicate count="30" offset="1 0 0"><replicate count="30" offset="0 1 0"><replicate count="30" offset="0 0 1"><geom size=".1"/></replicate></replicate></replicate></worldbody></mujoco>"#;

#[test]
#[expect(clippy::too_many_lines, reason = "a table of texts")]
fn text_is_accepted_or_refused() {
    let check = |text: &str, expected: &str| {
        let result = scan(text);
        assert_eq!(kind(&result), expected, "{:.200} {:?}", text, result.err());
    };
    let world = |inner: &str| format!("<mujoco><worldbody>{inner}</worldbody></mujoco>");
    check(&world("<geom size='1'/>"), "accepted");
    check(&world("<replicate count='30'><replicate count='30'><geom/></replicate></replicate>"), "accepted");

    check(BOMB, "over limit");
    check(&world("<replicate count='99999999999999999999'/>"), "bad number");
    check(
        &world("<replicate count='18446744073709551615'><replicate count='9'><geom/></replicate></replicate>"),
        "over limit",
    );
    for odd in ["0x7fff", "1e9", "-5", "+9", "9 9 9 nine", "3.0"] {
        check(&world(&format!("<replicate count='{odd}'><geom/></replicate>")), "bad number");
    }
    check(&world("<composite type='cable' count='1000 1000 1'/>"), "over limit");
    check(&world("<flexcomp type='grid' count='100 100 100'/>"), "over limit");
    check(&world("<flexcomp cellcount='100 100 100'/>"), "over limit");
    check(&world(&"<flexcomp/>".repeat(25)), "over limit");
    check(&world(&"<geom/>".repeat(20_001)), "over limit");
    check(&world(&("<body>".repeat(250) + &"</body>".repeat(250))), "over limit");
    check(&world(&format!("<!--{}-->", " ".repeat(4 << 20))), "over limit");
    check(&("<a>".repeat(1 << 20)), "over limit");
    check(&("<a>".repeat(100)), "not xml");
    // bombs for the parser, whose time is quadratic in these
    let attributes = |number: usize| (0..number).map(|i| format!(" a{i}='1'")).collect::<String>();
    check(&world(&format!("<geom{}/>", attributes(128))), "accepted");
    check(&world(&format!("<geom{}/>", attributes(129))), "over limit");
    check(&world(&format!("<geom{}/>", attributes(80_000))), "over limit");
    check(&world(&format!("<geom{}", attributes(80_000))), "over limit");
    check(&world(&format!("<geom a='>' {}/>", attributes(200))), "over limit");
    check(&world(&format!("<geom a='=' b=\"'>'\" {}/>", attributes(126))), "accepted");
    check(
        &world(&format!("<!-- {} --><?p {}?><![CDATA[<a {}>]]>", attributes(200), attributes(200), attributes(200))),
        "accepted",
    );
    let namespaces = |number: usize| (0..number).map(|i| format!(" xmlns:n{i}='u{i}'")).collect::<String>();
    check(&format!("<mujoco{}/>", namespaces(16)), "accepted");
    check(&format!("<mujoco{}/>", namespaces(17)), "over limit");
    check(&format!("<mujoco>{}</mujoco>", "<a xmlns='b'/>".repeat(17)), "over limit");
    check(&world(&"<!---->".repeat(300_000)), "over limit");

    check("<mujoco><size memory='1000G'/></mujoco>", "over limit");
    check("<mujoco><size memory='99E'/></mujoco>", "over limit");
    check("<mujoco><size memory='1 G'/></mujoco>", "bad number");
    check("<mujoco><size memory='100K' njmax='500' nkey='-1'/></mujoco>", "accepted");
    check("<mujoco><size nuser_body='2000000000'/></mujoco>", "over limit");
    check("<mujoco><custom><numeric name='n' size='2000000000'/></custom></mujoco>", "over limit");
    check("<mujoco><sensor><user dim='2000000000'/></sensor></mujoco>", "over limit");
    check("<mujoco><sensor><rangefinder camera='c'/></sensor></mujoco>", "unsupported");
    check("<mujoco><option iterations='2000000000'/></mujoco>", "over limit");
    check(
        "<mujoco><asset><texture builtin='flat' type='2d' width='65536' height='65536'/></asset></mujoco>",
        "over limit",
    );
    check("<mujoco><asset><texture builtin='flat' type='cube' width='4096'/></asset></mujoco>", "over limit");
    check("<mujoco><asset><hfield name='h' nrow='65536' ncol='65536' size='1 1 1 1'/></asset></mujoco>", "over limit");
    let mesh = |attributes: &str| format!("<mujoco><asset><mesh name='m' {attributes}/></asset></mujoco>");
    for (builtin, params, expected) in [
        ("supersphere", "20000 1 1", "over limit"),
        ("supersphere", "1e300 1 1", "over limit"),
        ("supersphere", "0x4e20 1 1", "bad number"),
        (" supersphere ", "20000 1 1", "over limit"),
        ("supersphere", "300 1 1", "accepted"),
        ("supertorus", "20000 .2 1 1", "over limit"),
        ("supertorus", "-20000 .2 1 1", "bad number"),
        ("supertorus", "300 .2 1 1", "accepted"),
        ("sphere", "7", "over limit"),
        ("sphere", "4", "accepted"),
        ("hemisphere", "2000", "over limit"),
        ("hemisphere", "10", "accepted"),
        ("cone", "1000 0", "over limit"),
        ("cone", "-5 0", "bad number"),
        ("cone", "100 0", "accepted"),
        ("wedge", "1000 1000 60 45 0", "over limit"),
        ("wedge", "20 20 60 45 0", "accepted"),
        ("plate", "1000 1000", "over limit"),
        ("plate", "20 20", "accepted"),
        ("novelty", "1000 1", "over limit"),
        ("none", "1000 1000", "accepted"),
    ] {
        check(&mesh(&format!("builtin='{builtin}' params='{params}'")), expected);
    }
    let two = "<mesh builtin='supersphere' params='250 1 1'/>".repeat(2);
    check(&format!("<mujoco><asset>{two}</asset></mujoco>"), "over limit");
    check(
        "<mujoco><asset><texture builtin='flat' width='4096' height='4096' nchannel='8'/></asset></mujoco>",
        "over limit",
    );

    check("<mujoco><extension><plugin plugin='mujoco.elasticity.cable'/></extension></mujoco>", "unsupported");
    check(&world("<geom type='sdf'><plugin instance='x'/></geom>"), "unsupported");
    check("<mujoco><asset><model name='m' file='other.xml'/></asset></mujoco>", "unsupported");
    check(&world("<attach model='m' prefix='a'/>"), "unsupported");

    let laughs = r#"<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><mujoco>&b;</mujoco>"#;
    check(laughs, "not xml");
    check(r#"<!DOCTYPE x SYSTEM "file:///etc/passwd"><mujoco/>"#, "not xml");
    check("", "not xml");
    check("<mujoco>", "not xml");
    check("<mujoco/>\0", "not xml");
    check("<mujoco/><mujoco/>", "not xml");

    check("<mujoco><asset><mesh file='a.stl'/></asset></mujoco>", "file in text");
    check("<mujoco><asset><texture fileright='a.png'/></asset></mujoco>", "file in text");
    check("<mujoco><include file='a.xml'/></mujoco>", "file in text");
    check("<robot name='r'><link name='l'><mesh filename='a.stl'/></link></robot>", "file in text");
}

#[test]
fn counts_are_summed() {
    let check = |inner: &str, expected: &str| {
        let result = scan(&format!("<mujoco>{inner}</mujoco>"));
        assert_eq!(kind(&result), expected, "{inner:.200} {:?}", result.err());
    };
    let sensors = |number: usize, sensor: &str| format!("<sensor>{}</sensor>", sensor.repeat(number));
    check(&sensors(40, "<user dim='99999'/>"), "accepted");
    check(&sensors(4_000, "<user dim='99999'/>"), "over limit");
    check(&sensors(1, "<user dim='99999' nsample='99999'/>"), "over limit");
    check(&sensors(1, "<user dim='-1' nsample=''/>"), "accepted");
    check(&sensors(1, "<user dim='100001'/>"), "over limit");
    check(&sensors(4, "<contact num='99999'/>"), "over limit");
    check(&sensors(10, "<tactile mesh='m' geom='g'/>"), "accepted");
    check(&sensors(100, "<tactile mesh='m' geom='g'/>"), "over limit");
    check(&"<custom><numeric size='99999'/></custom>".repeat(50), "over limit");

    let motors = |number: usize, motor: &str| format!("<actuator>{}</actuator>", motor.repeat(number));
    check(&motors(4_000, "<motor joint='j' nsample='99999'/>"), "over limit");
    check(&motors(4_000, "<general joint='j' actdim='99999'/>"), "over limit");
    check(&motors(4_000, "<motor joint='j' nsample='100'/>"), "accepted");
    let default = "<default><default class='slow'><motor nsample='99999'/></default></default>";
    check(&format!("{default}{}", motors(10, "<motor joint='j'/>")), "accepted");
    check(&format!("{default}{}", motors(4_000, "<motor joint='j'/>")), "over limit");
    check(&format!("{}{default}", motors(4_000, "<motor joint='j'/>")), "over limit");

    let bodies = |inner: &str| format!("<worldbody><replicate count='5000'>{inner}</replicate></worldbody>");
    check(&bodies("<body/>"), "accepted");
    check(&format!("<size nuser_body='9999'/>{}", bodies("<body/>")), "over limit");
    check(&format!("<size nuser_geom='9999'/>{}", bodies("<body/>")), "accepted");
    check(&format!("<worldbody><geom user='{}'/></worldbody>{}", "1 ".repeat(9_999), bodies("<geom/>")), "over limit");
    check(&format!("<worldbody><geom user='{}'/></worldbody>{}", "1 ".repeat(99), bodies("<geom/>")), "accepted");
    check(&format!("<size nuserdata='99999'/>{}", sensors(41, "<user dim='99999'/>")), "over limit");
    check(&format!("<keyframe>{}</keyframe>{}", "<key/>".repeat(1_000), bodies("<joint/>")), "over limit");
    check(&format!("<size nkey='99999'/>{}", bodies("<joint/>")), "over limit");
    check(&format!("<keyframe>{}</keyframe>{}", "<key/>".repeat(10), bodies("<joint/>")), "accepted");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of files")]
fn files_are_accepted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("model");
    fs::create_dir_all(root.join("meshes")).unwrap();
    fs::write(folder.path().join("secret.stl"), "secret").unwrap();
    symlink(folder.path().join("secret.stl"), root.join("link.stl")).unwrap();
    fs::write(root.join("meshes/a.stl"), "mesh").unwrap();
    fs::write(root.join("self.xml"), "<mujocoinclude><include file='self.xml'/></mujocoinclude>").unwrap();
    fs::write(root.join("ping.xml"), "<mujocoinclude><include file='pong.xml'/></mujocoinclude>").unwrap();
    fs::write(root.join("pong.xml"), "<mujocoinclude><include file='./ping.xml'/></mujocoinclude>").unwrap();
    fs::write(root.join("geom.xml"), "<mujocoinclude><geom size='1'/></mujocoinclude>").unwrap();
    fs::write(root.join("latin.xml"), b"<mujocoinclude>\xe9</mujocoinclude>").unwrap();
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(100_000_u32.to_be_bytes());
    png.extend(100_000_u32.to_be_bytes());
    fs::write(root.join("bomb.png"), png).unwrap();
    let huge = fs::File::create(root.join("huge.stl")).unwrap();
    huge.set_len(17 << 20).unwrap();
    for i in 0..5 {
        fs::File::create(root.join(format!("large{i}.stl"))).unwrap().set_len(15 << 20).unwrap();
    }
    for i in 0..10 {
        let next = format!("<mujocoinclude><include file='deep{}.xml'/></mujocoinclude>", i + 1);
        fs::write(root.join(format!("deep{i}.xml")), next).unwrap();
    }

    let check = |inner: &str, expected: &str| {
        let main = root.join("main.xml");
        fs::write(&main, format!("<mujoco>{inner}</mujoco>")).unwrap();
        let result = Source::from_file(&main, &Limits::default());
        assert_eq!(kind(&result), expected, "{inner} {:?}", result.err());
    };
    let mesh = |file: &str| format!("<asset><mesh file='{file}'/></asset>");
    check(&mesh("meshes/a.stl"), "accepted");
    check(&format!("<compiler meshdir='meshes/'/>{}", mesh("a.stl")), "accepted");
    check(&format!("<compiler assetdir='meshes' strippath='true'/>{}", mesh("elsewhere/a.stl")), "accepted");
    check(&mesh("none.stl"), "unreadable");
    for path in ["../secret.stl", "/etc/passwd", "meshes/../../secret.stl", "c:\\a.stl", "..\\a.stl", "http://a/b.stl"]
    {
        check(&mesh(path), "outside");
        check(&format!("<compiler meshdir='{path}'/>"), "outside");
        check(&format!("<include file='{path}'/>"), "outside");
    }
    check("<compiler texturedir='..'/>", "outside");
    check(&mesh("link.stl"), "outside");
    check(&mesh("huge.stl"), "over limit");
    check(&(0..5).map(|i| mesh(&format!("large{i}.stl"))).collect::<String>(), "over limit");
    check(&mesh("meshes/a.stl").repeat(2_000), "accepted");
    check(&mesh("meshes/a.stl").repeat(2_001), "over limit");
    let folders = |number: usize| (0..number).map(|i| format!("<compiler meshdir='f{i}'/>")).collect::<String>();
    check(&folders(15), "accepted");
    check(&folders(16), "over limit");
    check("<asset><texture type='2d' file='bomb.png'/></asset>", "over limit");
    check("<asset><hfield file='bomb.png' size='1 1 1 1'/></asset>", "over limit");
    check("<worldbody><flexcomp type='mesh' file='large0.stl'/></worldbody>", "over limit");

    check("<worldbody><include file='geom.xml'/></worldbody>", "accepted");
    check("<worldbody><include file='geom.xml'/><include file='geom.xml'/></worldbody>", "included twice");
    check("<include file='self.xml'/>", "included twice");
    check("<include file='main.xml'/>", "included twice");
    check("<include file='ping.xml'/>", "included twice");
    check("<include file='deep0.xml'/>", "over limit");
    check("<include file='latin.xml'/>", "not xml");
    check("<include file='meshes'/>", "unreadable");
    let repeated = "<worldbody><replicate count='20001'><include file='geom.xml'/></replicate></worldbody>";
    check(repeated, "over limit");

    let refuse = |name: &str| kind(&Source::from_file(&root.join(name), &Limits::default()));
    assert_eq!(
        (refuse("none.xml"), refuse("meshes/a.stl"), refuse("meshes")),
        ("unreadable", "unreadable", "unreadable")
    );
}

#[test]
fn urdf_package_paths_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("meshes")).unwrap();
    fs::write(folder.path().join("arm.stl"), "mesh").unwrap();
    let path = folder.path().join("robot.urdf");
    fs::write(&path, "<robot name='r'><mesh filename='package://r/meshes/arm.stl'/></robot>").unwrap();
    assert_eq!(kind(&Source::from_file(&path, &Limits::default())), "accepted");
    fs::write(&path, "<robot name='r'><mesh filename='package://r/../../arm.stl'/></robot>").unwrap();
    assert_eq!(kind(&Source::from_file(&path, &Limits::default())), "outside");
}

#[test]
fn messages_name_the_problem_and_the_file() {
    assert_eq!(
        scan(BOMB).unwrap_err().to_string(),
        "text.xml: number of elements after expansion is 27933, more than the 20000 allowed; make the model smaller or \
         raise the limit"
    );
}

#[test]
fn memory_sizes_are_parsed() {
    let check = |text: &str, bytes: Option<u64>| assert_eq!(parse_memory(text), bytes, "{text}");
    check("100", Some(100));
    check(" 100K ", Some(102_400));
    check("2m", Some(2 << 20));
    check("-1", Some(0));
    check("9999E", Some(u64::MAX));
    check("K", None);
    check("", None);
    check("1.5G", None);
    check("é", None);
}

fn xmlish() -> impl Strategy<Value = String> {
    let tags = ["mujoco", "worldbody", "replicate", "body", "geom", "include", "size", "mesh", "texture", "flexcomp"];
    let names = ["count", "file", "memory", "nrow", "width", "params", "builtin", "meshdir", "resolution", "nkey"];
    let values =
        ["", "1", "30 30", "-1", "99999999999999999999", "..", "/a", "9E", "nan", "&lt;", "é", "flat", "1e308"];
    let attribute = (prop::sample::select(names.to_vec()), prop::sample::select(values.to_vec()))
        .prop_map(|(name, value)| format!(" {name}='{value}'"));
    let open = (prop::sample::select(tags.to_vec()), prop::option::of(attribute), any::<bool>()).prop_map(
        |(tag, attribute, closed)| {
            let attribute = attribute.unwrap_or_default();
            if closed { format!("<{tag}{attribute}/>") } else { format!("<{tag}{attribute}>") }
        },
    );
    let close = prop::sample::select(tags.to_vec()).prop_map(|tag| format!("</{tag}>"));
    prop::collection::vec(prop_oneof![3 => open, 1 => close], 0..40)
        .prop_map(|parts| format!("<mujoco>{}</mujoco>", parts.concat()))
}

/// A tree with every tag closed, so that the scan gets past the parser.
fn well_formed() -> impl Strategy<Value = String> {
    let leaf = "<(replicate count='[0-9]{0,20}'|size memory='[0-9KE.]{0,8}'|mesh params='[0-9 .e-]{0,12}'|geom)/>";
    leaf.prop_map(|text: String| text).prop_recursive(6, 64, 4, |inner| {
        ("[0-9]{1,20}", prop::collection::vec(inner, 0..4))
            .prop_map(|(count, inner)| format!("<replicate count='{count}'>{}</replicate>", inner.concat()))
    })
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = scan(&text);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.xml");
        fs::write(&path, bytes).unwrap();
        let _ = Source::from_file(&path, &Limits::default());
    }

    #[test]
    fn no_markup_panics(text in prop_oneof![xmlish(), well_formed()]) {
        let _ = scan(&text);
    }

    #[test]
    fn accepted_text_compiles_or_is_refused(text in xmlish()) {
        if let Ok(source) = scan(&text) {
            let _ = crate::Assembly::new(source).compile();
        }
    }
}
