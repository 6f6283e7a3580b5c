namespace Rossum.Oz
{
    /// <summary>What the robot looks at.</summary>
    public enum LookAt : int
    {
        /// <summary>Straight ahead.</summary>
        Forward = 0,

        /// <summary>Down.</summary>
        Down = 1,

        /// <summary>Up.</summary>
        Up = 2,

        /// <summary>The largest face, which is the closest one.</summary>
        Largest = 3,

        /// <summary>The smallest face, which is the furthest one.</summary>
        Smallest = 4,

        /// <summary>Where no face is.</summary>
        Away = 5,
    }
}
