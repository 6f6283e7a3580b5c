//! What things look and sound like.

use serde::{Deserialize, Deserializer, de::Error};

/// Red, green and blue, 0 to 255. `"#rrggbb"` in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is not a colour like \"#c0392b\"")))
    }
}

impl Color {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Self([red, green, blue]))
    }
}

/// What visual and sonic sensors find of a thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Whether visual sensors see it.
    pub visible: bool,
    /// What it does with sound.
    pub sonic: Sonic,
}

/// What a surface does with sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sonic {
    /// Sends it back to where it comes from.
    Diffuse,
    /// Mirrors it: it comes back only if it hits nearly at a right angle.
    Specular {
        /// Between beam and the surface's normal, in rad, at most π/2.
        max_incidence: f64,
    },
    /// Swallows it.
    Absorb,
}

impl Material {
    /// Seen and heard.
    pub const WOOD: Self = Self { visible: true, sonic: Sonic::Diffuse };
    /// Materials that each world knows by name.
    pub const PREDEFINED: [(&str, Self); 5] = [
        ("wood", Self::WOOD),
        ("wallpaper", Self::WOOD),
        ("glass", Self { visible: false, sonic: Sonic::Diffuse }),
        ("cotton", Self { visible: true, sonic: Sonic::Absorb }),
        ("smooth", Self { visible: true, sonic: Sonic::Specular { max_incidence: 0.35 } }),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_six_hexadecimal_digits() {
        let check = |text, expected| assert_eq!(Color::parse(text), expected, "{text}");
        check("#c0392b", Some(Color([192, 57, 43])));
        check("#FFFFFF", Some(Color([255; 3])));
        for wrong in ["", "#", "c0392b", "#c0392", "#c0392b0", "#+0392b", "#gg0000", "#€00"] {
            check(wrong, None);
        }
    }
}
