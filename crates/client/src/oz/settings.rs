use super::{ClientError, EXPRESSIONS, LOOKATS, Oz, SERVO_COUNT, SERVOS, finite, known};
use wire::oz::Request;

/// The values last set by this client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    voice_gender_language: u32,
    expression: u32,
    look_at: u32,
    voice_volume: f32,
    voice_pitch: f32,
    gesture_weight: f32,
    expression_weight: f32,
    auto_blink_speed: f32,
    random_head_weight: f32,
    random_eyes_weight: f32,
    random_face_weight: f32,
    direct_weight: f32,
    look_at_weight: f32,
    servos: [Option<f32>; SERVO_COUNT],
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            voice_gender_language: 0,
            expression: 0,
            look_at: 0,
            voice_volume: 1.0,
            voice_pitch: 1.0,
            gesture_weight: 1.0,
            expression_weight: 1.0,
            auto_blink_speed: 2.0,
            random_head_weight: 0.0,
            random_eyes_weight: 0.0,
            random_face_weight: 0.0,
            direct_weight: 0.0,
            look_at_weight: 1.0,
            servos: [None; SERVO_COUNT],
        }
    }
}

/// Settings. Finite numbers that are out of range are sent unchanged; the robot decides what they mean.
impl Oz {
    /// Sets the voice; 0 is the only one.
    ///
    /// # Errors
    ///
    /// If the connection is closed.
    pub fn set_voice_gender_language(&mut self, voice: u32) -> Result<(), ClientError> {
        self.connection.send(&Request::VoiceGenderLanguage(voice))?;
        self.settings.voice_gender_language = voice;
        Ok(())
    }

    /// The value last set with [`set_voice_gender_language`](Self::set_voice_gender_language).
    pub fn voice_gender_language(&self) -> u32 {
        self.settings.voice_gender_language
    }

    /// Sets the facial expression, an index into [`EXPRESSIONS`]. Default: 0 (neutral).
    ///
    /// # Errors
    ///
    /// If the expression is unknown, or the connection is closed.
    pub fn set_expression(&mut self, id: u32) -> Result<(), ClientError> {
        self.connection.send(&Request::Expression(known("expression", id, EXPRESSIONS.len())?))?;
        self.settings.expression = id;
        Ok(())
    }

    /// The value last set with [`set_expression`](Self::set_expression).
    pub fn expression(&self) -> u32 {
        self.settings.expression
    }

    /// Sets the gaze mode, an index into [`LOOKATS`]. Default: 0 (forward).
    ///
    /// # Errors
    ///
    /// If the mode is unknown, or the connection is closed.
    pub fn set_look_at(&mut self, mode: u32) -> Result<(), ClientError> {
        self.connection.send(&Request::LookAt(known("lookat mode", mode, LOOKATS.len())?))?;
        self.settings.look_at = mode;
        Ok(())
    }

    /// The value last set with [`set_look_at`](Self::set_look_at).
    pub fn look_at(&self) -> u32 {
        self.settings.look_at
    }

    /// Sets the volume, 0 to 1. Default: 1.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_voice_volume(&mut self, volume: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::VoiceVolume(finite("the volume", volume)?))?;
        self.settings.voice_volume = volume;
        Ok(())
    }

    /// The value last set with [`set_voice_volume`](Self::set_voice_volume).
    pub fn voice_volume(&self) -> f32 {
        self.settings.voice_volume
    }

    /// Sets the pitch, 0.5 to 2. Default: 1.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_voice_pitch(&mut self, pitch: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::VoicePitch(finite("the pitch", pitch)?))?;
        self.settings.voice_pitch = pitch;
        Ok(())
    }

    /// The value last set with [`set_voice_pitch`](Self::set_voice_pitch).
    pub fn voice_pitch(&self) -> f32 {
        self.settings.voice_pitch
    }

    /// Sets the weight of gestures, 0 to 1. Default: 1.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_gesture_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::GestureWeight(finite("the weight of gestures", weight)?))?;
        self.settings.gesture_weight = weight;
        Ok(())
    }

    /// The value last set with [`set_gesture_weight`](Self::set_gesture_weight).
    pub fn gesture_weight(&self) -> f32 {
        self.settings.gesture_weight
    }

    /// Sets the weight of the expression, 0 to 1. Default: 1.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_expression_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::ExpressionWeight(finite("the weight of the expression", weight)?))?;
        self.settings.expression_weight = weight;
        Ok(())
    }

    /// The value last set with [`set_expression_weight`](Self::set_expression_weight).
    pub fn expression_weight(&self) -> f32 {
        self.settings.expression_weight
    }

    /// Sets the blink rate, 0 to 10 per second. Default: 2.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_auto_blink_speed(&mut self, speed: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::AutoBlinkSpeed(finite("the blink speed", speed)?))?;
        self.settings.auto_blink_speed = speed;
        Ok(())
    }

    /// The value last set with [`set_auto_blink_speed`](Self::set_auto_blink_speed).
    pub fn auto_blink_speed(&self) -> f32 {
        self.settings.auto_blink_speed
    }

    /// Sets the weight of random head motion, 0 to 1. Default: 0.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_random_head_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::RandomHeadWeight(finite("the weight of random head motion", weight)?))?;
        self.settings.random_head_weight = weight;
        Ok(())
    }

    /// The value last set with [`set_random_head_weight`](Self::set_random_head_weight).
    pub fn random_head_weight(&self) -> f32 {
        self.settings.random_head_weight
    }

    /// Sets the weight of random eye motion, 0 to 1. Default: 0.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_random_eyes_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::RandomEyesWeight(finite("the weight of random eye motion", weight)?))?;
        self.settings.random_eyes_weight = weight;
        Ok(())
    }

    /// The value last set with [`set_random_eyes_weight`](Self::set_random_eyes_weight).
    pub fn random_eyes_weight(&self) -> f32 {
        self.settings.random_eyes_weight
    }

    /// Sets the weight of random face motion, 0 to 1. Default: 0.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_random_face_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::RandomFaceWeight(finite("the weight of random face motion", weight)?))?;
        self.settings.random_face_weight = weight;
        Ok(())
    }

    /// The value last set with [`set_random_face_weight`](Self::set_random_face_weight).
    pub fn random_face_weight(&self) -> f32 {
        self.settings.random_face_weight
    }

    /// Sets the weight of direct servo positions, 0 to 1. Default: 0.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_direct_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::DirectWeight(finite("the weight of direct control", weight)?))?;
        self.settings.direct_weight = weight;
        Ok(())
    }

    /// The value last set with [`set_direct_weight`](Self::set_direct_weight).
    pub fn direct_weight(&self) -> f32 {
        self.settings.direct_weight
    }

    /// Sets the weight of the gaze, 0 to 1. Default: 1.
    ///
    /// # Errors
    ///
    /// If the value is not finite, or the connection is closed.
    pub fn set_look_at_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.connection.send(&Request::LookAtWeight(finite("the weight of lookat", weight)?))?;
        self.settings.look_at_weight = weight;
        Ok(())
    }

    /// The value last set with [`set_look_at_weight`](Self::set_look_at_weight).
    pub fn look_at_weight(&self) -> f32 {
        self.settings.look_at_weight
    }

    /// Sets the direct position of a servo, an index into [`SERVOS`], 0 to 1 over its travel. Its effect depends on
    /// [`set_direct_weight`](Self::set_direct_weight).
    ///
    /// # Errors
    ///
    /// If the servo is unknown, the position is not finite, or the connection is closed.
    pub fn set_servo(&mut self, id: u32, position: f32) -> Result<(), ClientError> {
        let id = known("servo", id, SERVOS.len())?;
        self.connection.send(&Request::Servo { id, position: finite("the position of a servo", position)? })?;
        if let Some(servo) = self.settings.servos.get_mut(id as usize) {
            *servo = Some(position);
        }
        Ok(())
    }

    /// The direct position last set for a servo, 0 to 1; `None` if it was never set or the servo is unknown.
    pub fn servo(&self, id: u32) -> Option<f32> {
        self.settings.servos.get(id as usize).copied().flatten()
    }

    /// Sets the direct positions of all servos, in the order of [`SERVOS`].
    ///
    /// # Errors
    ///
    /// If a position is not finite, or the connection is closed.
    pub fn set_all_servos(&mut self, positions: [f32; SERVO_COUNT]) -> Result<(), ClientError> {
        for position in positions {
            finite("the position of a servo", position)?;
        }
        self.connection.send(&Request::AllServos(positions))?;
        self.settings.servos = positions.map(Some);
        Ok(())
    }

    /// The direct positions last set, in the order of [`SERVOS`]; `None` for servos that were never set.
    pub fn all_servos(&self) -> [Option<f32>; SERVO_COUNT] {
        self.settings.servos
    }
}
