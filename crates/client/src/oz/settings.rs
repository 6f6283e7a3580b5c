use super::{ClientError, EXPRESSIONS, LOOKATS, Oz, SERVO_COUNT, SERVOS, finite, known};
use wire::oz::Request;

/// What was set last.
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

/// What can be set. A number that is finite but out of range is sent all the same: the robot decides what it means.
impl Oz {
    /// The voice; 0 is the only one there is.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub fn set_voice_gender_language(&mut self, voice: u32) -> Result<(), ClientError> {
        self.link.send(&Request::VoiceGenderLanguage(voice))?;
        self.settings.voice_gender_language = voice;
        Ok(())
    }

    /// What [`set_voice_gender_language`](Self::set_voice_gender_language) has set.
    pub fn voice_gender_language(&self) -> u32 {
        self.settings.voice_gender_language
    }

    /// What the face shows: its place in [`EXPRESSIONS`]; 0, neutral, at first.
    ///
    /// # Errors
    ///
    /// When there is no such expression, or the connection has ended.
    pub fn set_expression(&mut self, id: u32) -> Result<(), ClientError> {
        self.link.send(&Request::Expression(known("expression", id, EXPRESSIONS.len())?))?;
        self.settings.expression = id;
        Ok(())
    }

    /// What [`set_expression`](Self::set_expression) has set.
    pub fn expression(&self) -> u32 {
        self.settings.expression
    }

    /// Where to look: its place in [`LOOKATS`]; 0, forward, at first.
    ///
    /// # Errors
    ///
    /// When there is no such lookat mode, or the connection has ended.
    pub fn set_look_at(&mut self, mode: u32) -> Result<(), ClientError> {
        self.link.send(&Request::LookAt(known("lookat mode", mode, LOOKATS.len())?))?;
        self.settings.look_at = mode;
        Ok(())
    }

    /// What [`set_look_at`](Self::set_look_at) has set.
    pub fn look_at(&self) -> u32 {
        self.settings.look_at
    }

    /// How loud the voice is, 0 to 1; 1 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_voice_volume(&mut self, volume: f32) -> Result<(), ClientError> {
        self.link.send(&Request::VoiceVolume(finite("the volume", volume)?))?;
        self.settings.voice_volume = volume;
        Ok(())
    }

    /// What [`set_voice_volume`](Self::set_voice_volume) has set.
    pub fn voice_volume(&self) -> f32 {
        self.settings.voice_volume
    }

    /// How high the voice is, 0.5 to 2; 1 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_voice_pitch(&mut self, pitch: f32) -> Result<(), ClientError> {
        self.link.send(&Request::VoicePitch(finite("the pitch", pitch)?))?;
        self.settings.voice_pitch = pitch;
        Ok(())
    }

    /// What [`set_voice_pitch`](Self::set_voice_pitch) has set.
    pub fn voice_pitch(&self) -> f32 {
        self.settings.voice_pitch
    }

    /// How much gestures count, 0 to 1; 1 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_gesture_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.link.send(&Request::GestureWeight(finite("the weight of gestures", weight)?))?;
        self.settings.gesture_weight = weight;
        Ok(())
    }

    /// What [`set_gesture_weight`](Self::set_gesture_weight) has set.
    pub fn gesture_weight(&self) -> f32 {
        self.settings.gesture_weight
    }

    /// How much the expression counts, 0 to 1; 1 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_expression_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.link.send(&Request::ExpressionWeight(finite("the weight of the expression", weight)?))?;
        self.settings.expression_weight = weight;
        Ok(())
    }

    /// What [`set_expression_weight`](Self::set_expression_weight) has set.
    pub fn expression_weight(&self) -> f32 {
        self.settings.expression_weight
    }

    /// Blinks a second, 0 to 10; 2 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_auto_blink_speed(&mut self, speed: f32) -> Result<(), ClientError> {
        self.link.send(&Request::AutoBlinkSpeed(finite("the blink speed", speed)?))?;
        self.settings.auto_blink_speed = speed;
        Ok(())
    }

    /// What [`set_auto_blink_speed`](Self::set_auto_blink_speed) has set.
    pub fn auto_blink_speed(&self) -> f32 {
        self.settings.auto_blink_speed
    }

    /// How much the head's random motion counts, 0 to 1; 0 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_random_head_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.link.send(&Request::RandomHeadWeight(finite("the weight of random head motion", weight)?))?;
        self.settings.random_head_weight = weight;
        Ok(())
    }

    /// What [`set_random_head_weight`](Self::set_random_head_weight) has set.
    pub fn random_head_weight(&self) -> f32 {
        self.settings.random_head_weight
    }

    /// How much the eyes' random motion counts, 0 to 1; 0 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_random_eyes_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.link.send(&Request::RandomEyesWeight(finite("the weight of random eye motion", weight)?))?;
        self.settings.random_eyes_weight = weight;
        Ok(())
    }

    /// What [`set_random_eyes_weight`](Self::set_random_eyes_weight) has set.
    pub fn random_eyes_weight(&self) -> f32 {
        self.settings.random_eyes_weight
    }

    /// How much the face's random motion counts, 0 to 1; 0 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_random_face_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.link.send(&Request::RandomFaceWeight(finite("the weight of random face motion", weight)?))?;
        self.settings.random_face_weight = weight;
        Ok(())
    }

    /// What [`set_random_face_weight`](Self::set_random_face_weight) has set.
    pub fn random_face_weight(&self) -> f32 {
        self.settings.random_face_weight
    }

    /// How much directly set servos count, 0 to 1; 0 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_direct_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.link.send(&Request::DirectWeight(finite("the weight of direct control", weight)?))?;
        self.settings.direct_weight = weight;
        Ok(())
    }

    /// What [`set_direct_weight`](Self::set_direct_weight) has set.
    pub fn direct_weight(&self) -> f32 {
        self.settings.direct_weight
    }

    /// How much looking at something counts, 0 to 1; 1 at first.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the connection has ended.
    pub fn set_look_at_weight(&mut self, weight: f32) -> Result<(), ClientError> {
        self.link.send(&Request::LookAtWeight(finite("the weight of lookat", weight)?))?;
        self.settings.look_at_weight = weight;
        Ok(())
    }

    /// What [`set_look_at_weight`](Self::set_look_at_weight) has set.
    pub fn look_at_weight(&self) -> f32 {
        self.settings.look_at_weight
    }

    /// Sets one servo directly: its place in [`SERVOS`], and where between its limits it goes, 0 to 1. It counts by
    /// [`set_direct_weight`](Self::set_direct_weight).
    ///
    /// # Errors
    ///
    /// When there is no such servo, the position is not finite, or the connection has ended.
    pub fn set_servo(&mut self, id: u32, position: f32) -> Result<(), ClientError> {
        let id = known("servo", id, SERVOS.len())?;
        self.link.send(&Request::Servo { id, position: finite("the position of a servo", position)? })?;
        if let Some(servo) = self.settings.servos.get_mut(id as usize) {
            *servo = Some(position);
        }
        Ok(())
    }

    /// Where a servo was set to directly, 0 to 1; `None` if it never was, or does not exist.
    pub fn servo(&self, id: u32) -> Option<f32> {
        self.settings.servos.get(id as usize).copied().flatten()
    }

    /// Sets every servo directly, in the order of [`SERVOS`], as [`set_servo`](Self::set_servo) does.
    ///
    /// # Errors
    ///
    /// When a position is not finite, or the connection has ended.
    pub fn set_all_servos(&mut self, positions: [f32; SERVO_COUNT]) -> Result<(), ClientError> {
        for position in positions {
            finite("the position of a servo", position)?;
        }
        self.link.send(&Request::AllServos(positions))?;
        self.settings.servos = positions.map(Some);
        Ok(())
    }

    /// Where every servo was set to directly, in the order of [`SERVOS`]; `None` for one that never was.
    pub fn all_servos(&self) -> [Option<f32>; SERVO_COUNT] {
        self.settings.servos
    }
}
