/* The constants of the Oz Robot Puppeteering System's client protocol, version 1.0. */

#ifndef OZ_PROTOCOL_H
#define OZ_PROTOCOL_H

#ifdef __cplusplus
namespace oz {
#endif

/* the port that a robot listens on, unless it is configured otherwise */
enum { OZ_PORT = 7331 };

/* servos */
enum {
    /* body */
    SERVO_WAIST = 0,

    /* left arm */
    SERVO_SHOULDER_PITCH_LEFT,
    SERVO_SHOULDER_ROLL_LEFT,
    SERVO_ELBOW_YAW_LEFT,
    SERVO_ELBOW_PITCH_LEFT,

    /* right arm */
    SERVO_SHOULDER_PITCH_RIGHT,
    SERVO_SHOULDER_ROLL_RIGHT,
    SERVO_ELBOW_YAW_RIGHT,
    SERVO_ELBOW_PITCH_RIGHT,

    /* left leg */
    SERVO_HIP_ROLL_LEFT,
    SERVO_HIP_YAW_LEFT,
    SERVO_HIP_PITCH_LEFT,
    SERVO_KNEE_PITCH_LEFT,
    SERVO_ANKLE_PITCH_LEFT,
    SERVO_ANKLE_ROLL_LEFT,

    /* right leg */
    SERVO_HIP_ROLL_RIGHT,
    SERVO_HIP_YAW_RIGHT,
    SERVO_HIP_PITCH_RIGHT,
    SERVO_KNEE_PITCH_RIGHT,
    SERVO_ANKLE_PITCH_RIGHT,
    SERVO_ANKLE_ROLL_RIGHT,

    /* head */
    SERVO_NECK_YAW,
    SERVO_NECK_ROLL,
    SERVO_NECK_PITCH,
    SERVO_BROWS,
    SERVO_EYELIDS,
    SERVO_EYES_PITCH,
    SERVO_JAW,
    SERVO_EYE_YAW_RIGHT,
    SERVO_SMILE_LEFT,
    SERVO_EYE_YAW_LEFT,
    SERVO_SMILE_RIGHT,

    /* left hand */
    SERVO_WRIST_LEFT,
    SERVO_GRASP_LEFT,

    /* right hand */
    SERVO_WRIST_RIGHT,
    SERVO_GRASP_RIGHT,

    MAX_SERVOS
};

/* voice, gender and language */
enum { VGL_DEFAULT = 0 };

/* gestures; a robot may have more, with higher numbers */
enum {
    GESTURE_BROW_RAISE_LONG = 0,
    GESTURE_BROW_RAISE_SHORT,
    GESTURE_FROWN_LONG,
    GESTURE_FROWN_SHORT,
    GESTURE_YES_LONG,
    GESTURE_YES_SHORT,
    GESTURE_YES_LONG_3X,
    GESTURE_YES_SHORT_3X,
    GESTURE_NO_LONG,
    GESTURE_NO_SHORT,
    GESTURE_NO_LONG_3X,
    GESTURE_NO_SHORT_3X,
    GESTURE_INDIAN_WOBBLE,

    MAX_GESTURES
};

/* facial expressions */
enum {
    EXPRESSION_NEUTRAL = 0,
    EXPRESSION_HAPPY,
    EXPRESSION_SAD,
    EXPRESSION_EVIL,
    EXPRESSION_AFRAID
};

/* what the robot looks at */
enum {
    LOOKAT_FORWARD = 0,
    LOOKAT_DOWN,
    LOOKAT_UP,
    LOOKAT_LARGEST,
    LOOKAT_SMALLEST,
    LOOKAT_AWAY
};

/* messages */
enum {
    MSG_NOTHING = 0,
    MSG_REQUEST_VERSION,
    MSG_RESET,

    /* speech */
    MSG_SPEAK,
    MSG_VOICE_GENDER_LANGUAGE,
    MSG_VOICE_VOLUME,
    MSG_VOICE_PITCH,

    /* gestures */
    MSG_GESTURE,
    MSG_GESTURE_WEIGHT,

    /* facial expression */
    MSG_EXPRESSION,
    MSG_EXPRESSION_WEIGHT,

    /* automatic motion */
    MSG_AUTO_BLINK_SPEED,
    MSG_RANDOM_HEAD_WEIGHT,
    MSG_RANDOM_EYES_WEIGHT,
    MSG_RANDOM_FACE_WEIGHT,

    /* direct servo control */
    MSG_SERVO,
    MSG_ALL_SERVOS,
    MSG_DIRECT_WEIGHT,

    /* looking at faces */
    MSG_LOOKAT,
    MSG_LOOKAT_WEIGHT,

    /* from the robot */
    MSG_SPEAK_DONE,
    MSG_GESTURE_DONE,
    MSG_SPEAK_GESTURE,
    MSG_UTTERANCE,
    MSG_FACES,
    MSG_VIDEO_FRAME
};

#ifdef __cplusplus
}
#endif

#endif
