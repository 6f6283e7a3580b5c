//! Colours and materials.

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

/// How a surface appears to visual and sonic sensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Whether visual sensors see it.
    pub visible: bool,
    /// How it reflects sound.
    pub sonic: Sonic,
}

/// How a surface reflects sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sonic {
    /// Back to the source, at any angle.
    Diffuse,
    /// Like a mirror: back to the source only near normal incidence.
    Specular {
        /// Largest angle between the beam and the surface normal, in rad, at most π/2.
        max_incidence: f64,
    },
    /// Not at all.
    Absorb,
}

impl Material {
    /// Visible, diffuse reflection of sound.
    pub const WOOD: Self = Self { visible: true, sonic: Sonic::Diffuse };
    /// Materials that every world file can use by name.
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
