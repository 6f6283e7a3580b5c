namespace Rossum.Oz
{
    /// <summary>The servos of a robot.</summary>
    public enum Servo : int
    {
        /// <summary>Waist.</summary>
        Waist = 0,

        /// <summary>Left shoulder pitch.</summary>
        ShoulderPitchLeft = 1,

        /// <summary>Left shoulder roll.</summary>
        ShoulderRollLeft = 2,

        /// <summary>Left elbow yaw.</summary>
        ElbowYawLeft = 3,

        /// <summary>Left elbow pitch.</summary>
        ElbowPitchLeft = 4,

        /// <summary>Right shoulder pitch.</summary>
        ShoulderPitchRight = 5,

        /// <summary>Right shoulder roll.</summary>
        ShoulderRollRight = 6,

        /// <summary>Right elbow yaw.</summary>
        ElbowYawRight = 7,

        /// <summary>Right elbow pitch.</summary>
        ElbowPitchRight = 8,

        /// <summary>Left hip roll.</summary>
        HipRollLeft = 9,

        /// <summary>Left hip yaw.</summary>
        HipYawLeft = 10,

        /// <summary>Left hip pitch.</summary>
        HipPitchLeft = 11,

        /// <summary>Left knee pitch.</summary>
        KneePitchLeft = 12,

        /// <summary>Left ankle pitch.</summary>
        AnklePitchLeft = 13,

        /// <summary>Left ankle roll.</summary>
        AnkleRollLeft = 14,

        /// <summary>Right hip roll.</summary>
        HipRollRight = 15,

        /// <summary>Right hip yaw.</summary>
        HipYawRight = 16,

        /// <summary>Right hip pitch.</summary>
        HipPitchRight = 17,

        /// <summary>Right knee pitch.</summary>
        KneePitchRight = 18,

        /// <summary>Right ankle pitch.</summary>
        AnklePitchRight = 19,

        /// <summary>Right ankle roll.</summary>
        AnkleRollRight = 20,

        /// <summary>Neck yaw.</summary>
        NeckYaw = 21,

        /// <summary>Neck roll.</summary>
        NeckRoll = 22,

        /// <summary>Neck pitch.</summary>
        NeckPitch = 23,

        /// <summary>Brows.</summary>
        Brows = 24,

        /// <summary>Eyelids.</summary>
        Eyelids = 25,

        /// <summary>Eyes pitch.</summary>
        EyesPitch = 26,

        /// <summary>Jaw.</summary>
        Jaw = 27,

        /// <summary>Right eye yaw.</summary>
        EyeYawRight = 28,

        /// <summary>Left smile.</summary>
        SmileLeft = 29,

        /// <summary>Left eye yaw.</summary>
        EyeYawLeft = 30,

        /// <summary>Right smile.</summary>
        SmileRight = 31,

        /// <summary>Left wrist.</summary>
        WristLeft = 32,

        /// <summary>Left grasp.</summary>
        GraspLeft = 33,

        /// <summary>Right wrist.</summary>
        WristRight = 34,

        /// <summary>Right grasp.</summary>
        GraspRight = 35,
    }
}
