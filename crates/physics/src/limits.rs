//! Size limits of models.

/// Limits that keep a hostile or faulty model from exhausting time and memory. All are checked before the engine parses the
/// model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Total size of the text, including included files, in bytes.
    pub text_bytes: u64,
    /// Number of attributes of an element.
    pub attributes: u64,
    /// Nesting depth of elements.
    pub depth: u32,
    /// Total number of elements after expansion of `replicate`, `composite` and `flexcomp`.
    pub elements: u64,
    /// Total number of included files.
    pub includes: u32,
    /// Nesting depth of includes.
    pub include_depth: u32,
    /// Number of references to mesh, texture, height field and skin files.
    pub assets: u64,
    /// Size of such a file, in bytes.
    pub asset_file_bytes: u64,
    /// Total size of such files, in bytes.
    pub asset_bytes: u64,
    /// Total number of texture pixels.
    pub texture_pixels: u64,
    /// Total number of height field cells.
    pub hfield_cells: u64,
    /// Largest single count that only allocates memory: user data, sensor dimensions, stored samples. Also the total number
    /// of vertices of generated meshes.
    pub values: u64,
    /// Total number of values that all such counts allocate.
    pub values_in_all: u64,
    /// Largest iteration count of a solver.
    pub iterations: u64,
    /// Memory that a model may request, in bytes. The arena's size is set independently of the request.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            text_bytes: 4 * MIB,
            attributes: 128,
            depth: 200,
            elements: 20_000,
            includes: 64,
            include_depth: 8,
            assets: 2_000,
            asset_file_bytes: 16 * MIB,
            asset_bytes: 64 * MIB,
            texture_pixels: 16 * MIB,
            hfield_cells: 4 * MIB,
            values: 100_000,
            values_in_all: 4 * MIB,
            iterations: 10_000,
            memory_bytes: 1024 * MIB,
        }
    }
}
