//! How large a model may be before it is refused.

/// Bounds that keep a hostile or mistaken model from taking the server's time and memory. All are checked before the
/// engine sees the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Model text in all, includes counted, in bytes.
    pub text_bytes: u64,
    /// How deep elements may be nested.
    pub depth: u32,
    /// Elements in all, after everything that repeats or generates (`replicate`, `composite`, `flexcomp`) has done so.
    pub elements: u64,
    /// Files included in all.
    pub includes: u32,
    /// How deep includes may be nested.
    pub include_depth: u32,
    /// One mesh, texture, height field or skin file, in bytes.
    pub asset_file_bytes: u64,
    /// All such files together, in bytes.
    pub asset_bytes: u64,
    /// Pixels of all textures together.
    pub texture_pixels: u64,
    /// Cells of all height fields together.
    pub hfield_cells: u64,
    /// Any one count that only reserves room: user data, sensor dimensions, samples kept. Also the vertices of all
    /// meshes that are made from parameters.
    pub values: u64,
    /// Numbers that all such counts reserve room for together.
    pub values_in_all: u64,
    /// Any one iteration count of the solvers.
    pub iterations: u64,
    /// The memory a model may ask for, in bytes. What it gets is decided here, whatever it asks for.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            text_bytes: 4 * MIB,
            depth: 200,
            elements: 20_000,
            includes: 64,
            include_depth: 8,
            asset_file_bytes: 64 * MIB,
            asset_bytes: 256 * MIB,
            texture_pixels: 16 * MIB,
            hfield_cells: 4 * MIB,
            values: 100_000,
            values_in_all: 4 * MIB,
            iterations: 10_000,
            memory_bytes: 1024 * MIB,
        }
    }
}
