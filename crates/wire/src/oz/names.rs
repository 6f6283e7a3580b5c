use super::SERVO_COUNT;

/// Gestures by id: the tag in spoken text, without brackets, and the name in the header file.
pub const GESTURES: [(&str, &str); 13] = [
    ("braisel", "brow_raise_long"),
    ("braises", "brow_raise_short"),
    ("frownl", "frown_long"),
    ("frowns", "frown_short"),
    ("yesl", "yes_long"),
    ("yess", "yes_short"),
    ("yesl3", "yes_long_3x"),
    ("yess3", "yes_short_3x"),
    ("nol", "no_long"),
    ("nos", "no_short"),
    ("nol3", "no_long_3x"),
    ("nos3", "no_short_3x"),
    ("wob", "indian_wobble"),
];

/// Facial expressions by id, named as in the header file.
pub const EXPRESSIONS: [&str; 5] = ["neutral", "happy", "sad", "evil", "afraid"];

/// Gaze modes by id, named as in the header file.
pub const LOOKATS: [&str; 6] = ["forward", "down", "up", "largest", "smallest", "away"];

/// Servos by id, named as in the header file (D6).
pub const SERVOS: [&str; SERVO_COUNT] = [
    "waist",
    "shoulder_pitch_left",
    "shoulder_roll_left",
    "elbow_yaw_left",
    "elbow_pitch_left",
    "shoulder_pitch_right",
    "shoulder_roll_right",
    "elbow_yaw_right",
    "elbow_pitch_right",
    "hip_roll_left",
    "hip_yaw_left",
    "hip_pitch_left",
    "knee_pitch_left",
    "ankle_pitch_left",
    "ankle_roll_left",
    "hip_roll_right",
    "hip_yaw_right",
    "hip_pitch_right",
    "knee_pitch_right",
    "ankle_pitch_right",
    "ankle_roll_right",
    "neck_yaw",
    "neck_roll",
    "neck_pitch",
    "brows",
    "eyelids",
    "eyes_pitch",
    "jaw",
    "eye_yaw_right",
    "smile_left",
    "eye_yaw_left",
    "smile_right",
    "wrist_left",
    "grasp_left",
    "wrist_right",
    "grasp_right",
];

/// The id of the gesture with this tag, without brackets; case-insensitive.
pub fn gesture_from_tag(tag: &str) -> Option<u32> {
    (0..).zip(GESTURES).find_map(|(id, (known, _))| known.eq_ignore_ascii_case(tag).then_some(id))
}
