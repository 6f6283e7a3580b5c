// The console's words with the server, as docs/console-api.md describes them: one WebSocket at /api?token=TOKEN.
// Text frames are JSON objects: commands have `do`, messages have `type`. Binary frames begin with a byte that says what
// they are (see `Frame`); all numbers in them are little-endian. Positions are in m, angles in rad, times in s,
// quaternions have w first, z is up.

export type Vector = [number, number, number]
export type Quaternion = [number, number, number, number]
export type Side = 'left' | 'right'

// --- what the server says ----------------------------------------------------------------------------------------------

export type Message =
  | Hello | Scene | State | AgentNews | Events | Game | Decisions | Puppet | PuppetEvents | Health | LogLines
  | Evolution | RunDetail | Replay | Listing | Found | Value | Values | Films | Film | Saved
  | { type: 'done'; id: number }
  | { type: 'refused'; id?: number; why: string }

/** First of all, once. */
export interface Hello {
  type: 'hello'
  /** Version of these words. */
  api: number
  /** Version of the program. */
  version: string
  /** Of the scenario. */
  title: string
  role: 'operator' | 'viewer'
  /** Number of this connection. */
  you: number
  /** Simulated seconds of a tick. */
  tick_seconds: number
  /** Everything that listens. */
  addresses: { title: string; kind: 'tcp' | 'udp' | 'http'; address: string }[]
  /** Whether there is a soccer game. */
  soccer: SoccerInfo | null
  puppet: PuppetInfo | null
  evolution: EvolutionInfo | null
  /** File of the recording that is being made, if one is. */
  recording: string | null
}

/** What is there, and how it looks. Topic `world`; at first, and whenever robots or objects come and go. */
export interface Scene {
  type: 'scene'
  generation: number
  /** Names; 0 is the world. Body i's pose is entry i - 1 of a pose frame. */
  bodies: string[]
  /** The body each hangs on. */
  parents: number[]
  looks: Look[]
  /** Triangles, for looks of the shape `mesh`: flat lists of coordinates and of corner numbers. */
  meshes: { vertices: number[]; faces: number[] }[]
  agents: AgentCard[]
}

/** Something to draw, fixed to a body. */
export interface Look {
  body: number
  position: Vector
  quaternion: Quaternion
  shape: 'plane' | 'sphere' | 'capsule' | 'cylinder' | 'ellipsoid' | 'box' | 'mesh'
  /**
   * plane: half lengths along x and y, 0 is without end; sphere: radius; capsule and cylinder: radius, half length
   * along z (a capsule's half balls not counted); ellipsoid: three radii; box: three half lengths; mesh: its number.
   */
  size: number[]
  rgba: [number, number, number, number]
  material: string | null
}

export interface AgentCard {
  name: string
  robot: string
  /** Its first body; -1 if it has none. */
  body: number
  motors: { name: string; kind: 'position' | 'velocity' | 'torque'; range: [number, number] }[]
  /** What it senses: outputs, then infos. */
  senses: { name: string; info: boolean; range: [number, number] }[]
}

/** Topic `world`; five times a second while something in it changes. */
export interface State {
  type: 'state'
  tick: number
  /** Ticks in this try. */
  step: number
  tries: number
  /** Of this try. */
  time: number
  paused: boolean
  /** `realtime`, `lockstep`, `eager` or `fast`. */
  pace: string
  /** How many times real time, where the pace follows the clock. */
  speed: number
  ticks_per_second: number
  /** Why the simulation stands still until a reset, if it does. */
  standstill: string | null
  clients: Client[]
}

/** Whoever is connected. */
export interface Client {
  id: number
  /** `soccer`, `osp`, `odcp`, `oz`, `console`, ... */
  protocol: string
  /** Address, where there is one. */
  peer: string
  /** Names of the agents it controls. */
  agents: string[]
  /** Of a console: operator or viewer. */
  role: 'operator' | 'viewer' | null
  /** Whether the world waits for it at each tick. */
  lockstep: boolean
}

/** What the agent of `follow` measures; 15 times a second while it changes. */
export interface AgentNews {
  type: 'agent'
  name: string
  time: number
  /** One for each motor, in physical units. */
  motors: number[]
  /** One for each sense, normalized. */
  senses: number[]
}

/** Topic `world`: what happened, but for what happens in every tick. */
export interface Events { type: 'events'; events: { tick: number; time: number; name: string }[] }

// --- soccer

export interface SoccerInfo {
  /** Names of all play modes. */
  modes: string[]
  /** Length along x and width along y. */
  field: [number, number]
  players_per_team: number
}

/** Topic `soccer`; when something in it changes, ten times a second at most. */
export interface Game {
  type: 'game'
  play_time: number
  mode: string
  teams: [string | null, string | null]
  score: [number, number]
  half: number
  players: { side: Side; number: number; agent: string; body: number }[]
  /** The ball's body. */
  ball: number | null
  demo: { players: number; note: string } | null
}

/** What the referee decided, the latest last; also those before this browser came. */
export interface Decisions { type: 'decisions'; decisions: { number: number; play_time: number; text: string }[] }

// --- puppet

export interface PuppetInfo {
  name: string
  robot: string
  gestures: { id: number; name: string; tag: string; seconds: number }[]
  expressions: { id: number; name: string }[]
  look_ats: { id: number; name: string }[]
  /** Names of the 36 servos, in order, by body part. */
  servos: { id: number; name: string; part: string }[]
  /** `gesture`, `expression`, ...: seven. */
  subsystems: string[]
}

/** Topic `puppet`; when something in it changes, ten times a second at most. */
export interface Puppet {
  type: 'puppet'
  /** Of the servos, 0 to 1. */
  positions: number[]
  /** By subsystem, 0 to 1. */
  weights: Record<string, number>
  expression: number
  look_at: number
  blinks: number
  volume: number
  pitch: number
  /** Whether it has something to say. */
  speaking: boolean
  gestures: number
  /** In the picture: box with x and y of its upper left corner, all 0 to 1 of the picture. */
  faces: { id: number; name: string; confidence: number; x: number; y: number; width: number; height: number }[]
  /** Names of faces that are known. */
  known: string[]
  /** Whether only one operator at a time may move it, and who does: number of a client. */
  one_at_a_time: boolean
  in_control: number | null
  operators: number
}

export interface PuppetEvents {
  type: 'puppet-events'
  events: PuppetEvent[]
}
export type PuppetEvent = { number: number; time: number } & (
  | { what: 'speak-begun' | 'speak-done'; speech: number }
  | { what: 'speak-gesture' | 'gesture-done'; gesture: number }
  | { what: 'utterance'; options: { text: string; confidence: number }[] }
)

// --- health

/** Topic `health`; once a second. */
export interface Health {
  type: 'health'
  parts: { name: string; works: boolean; words: string }[]
  /** Numbers for people and plots. */
  gauges: { name: string; unit: string; value: number; help: string }[]
}
/** Topic `health`: the log's lines of late at first, then each new one. */
export interface LogLines { type: 'log'; lines: { time: number; level: 'ERROR' | 'WARN' | 'INFO' | 'DEBUG' | 'TRACE'; text: string }[] }

// --- evolution

export interface EvolutionInfo {
  worlds: Choice[]
  bodies: Choice[]
  fitnesses: Choice[]
  algorithms: string[]
  /** Where this server's own Robot Simulator and World Simulator listen, if they do. */
  robot_simulator: string | null
  world_simulator: string | null
  /** Folder of the runs. */
  folder: string
}
export interface Choice { name: string; title: string }

/** Topic `evolution`; at first and when something changes, twice a second at most. */
export interface Evolution {
  type: 'evolution'
  /** Latest first. */
  runs: RunSummary[]
}
export interface RunSummary {
  name: string
  algorithm: string
  /** `obstacles, platine`, or where it is tested. */
  place: string
  seed: number
  generations: number
  generation: number
  best: number | null
  /** Whether a process is at it now: `running`, `stopped`, `finished` or `failed`. */
  state: 'running' | 'stopped' | 'finished' | 'failed'
  /** Why it failed, if it did. */
  words: string
  /** Whether its individuals are tested in its own process: only then can its best be watched. */
  here: boolean
}
/** Answer to `run`, and with every further generation while it is `watched`. */
export interface RunDetail {
  type: 'run'
  name: string
  /** By generation, from 1. */
  best: number[]
  mean: number[]
  worst: number[]
  best_so_far: number[]
  diversity: number[]
  /** The net of the best individual so far. */
  net: Net | null
}
export interface Net {
  generation: number
  individual: number
  fitness: number
  inputs: string[]
  hidden: number
  outputs: string[]
  /** From and to are numbers of neurons: inputs first, then hidden, then outputs. */
  weights: { from: number; to: number; weight: number }[]
}
/** Answer to `replay`: one individual's trials in its arena, from above; lengths in m. */
export interface Replay {
  type: 'replay'
  run: string
  generation: number
  fitness: number
  arena: {
    title: string
    bounds: [number, number, number, number]
    polygons: { points: [number, number][]; kind: 'ground' | 'obstacle' | 'deadly' | 'terrain' | 'other'; colour: string; height: number }[]
  }
  /** Outline of the robot, about its origin, facing along x. */
  shape: [number, number][]
  trials: {
    /** x, y, direction and whether it was blocked, step by step. */
    steps: [number, number, number, boolean][]
    died: boolean
    /** For each step, the beams as x1, y1, x2, y2 in the arena; empty if it has none. */
    beams: [number, number, number, number][][]
  }[]
  step_seconds: number
}

// --- variables

/** Answer to `list`. */
export interface Listing { type: 'list'; path: string; folders: string[]; variables: VariableCard[] }
/** Answer to `search`. */
export interface Found { type: 'found'; search: string; total: number; variables: VariableCard[] }
export interface VariableCard { name: string; kind: string; writable: boolean }
/** Answer to `read`. */
export interface Value { type: 'value'; variable: string; value: string }
/** What is observed; five times a second while it changes. */
export interface Values { type: 'values'; values: Record<string, string> }

// --- films: recordings and logs to be watched

/** Answer to `films`: what there is in the folder of recordings. */
export interface Films { type: 'films'; folder: string; films: { name: string; bytes: number; kind: 'recording' | 'log' }[] }
/** Answer to `open-film`, and again while it is being read: `ready` grows until it is `complete`. */
export interface Film {
  type: 'film'
  name: string
  /** Frames that can be asked for. */
  ready: number
  /** Whether all that there is has been read. */
  complete: boolean
  /** Why it was not read to the end, if it was not. */
  trouble: string | null
  /** Frames a second of its time. */
  rate: number
  /** How it looks, from which frame on: films have several where robots came or went. Only those that are new. */
  scenes: { from: number; scene: Scene }[]
  /** Goals, play modes and other marks on the time line. */
  marks: { frame: number; text: string }[]
}

// --- what is kept for the desk: macros, scripts, names of hotkeys

/** For operators: at first for each key that there is, and whenever somebody saves. */
export interface Saved { type: 'saved'; key: string; value: unknown }

// --- what the browser asks -----------------------------------------------------------------------------------------------

export type Topic = 'world' | 'poses' | 'soccer' | 'puppet' | 'video' | 'sound' | 'health' | 'evolution'

/**
 * Every command may have an `id`; it is then answered by `done` or `refused` with the same id. `done` means that it was
 * carried out, or handed to the world where the world does not answer. Viewers may only `watch`, `follow`, look at
 * variables, runs and films; anything else is refused.
 */
export type Command = { id?: number } & (
  /** From now on these topics, and no others. A hidden tab watches none. */
  | { do: 'watch'; topics: Topic[] }
  /** Have `agent` messages of this one. */
  | { do: 'follow'; agent: string | null }
  | { do: 'pause' } | { do: 'play' }
  /** One tick, while paused. */
  | { do: 'step' }
  | { do: 'reset'; seed?: number }
  /** 0.1 to 10 times real time. */
  | { do: 'speed'; factor: number }
  /** Motors by their place, with targets in physical units. */
  | { do: 'act'; agent: string; motors: [number, number][] }
  /** Change the speed of its first body by so much, in m/s. */
  | { do: 'push'; agent: string; velocity: Vector }
  /** A path ends with a slash. */
  | { do: 'list'; path: string } | { do: 'search'; text: string }
  | { do: 'read'; variable: string } | { do: 'write'; variable: string; value: string }
  /** From now on these variables in `values`, and no others; 64 at most. */
  | { do: 'observe'; variables: string[] }
  | { do: 'kick-off'; side: Side | null } | { do: 'drop-ball' }
  | { do: 'place-ball'; position: Vector; velocity?: Vector }
  /** Where its torso goes, and which way it faces. */
  | { do: 'place-player'; side: Side; number: number; position: [number, number]; heading: number }
  | { do: 'play-mode'; mode: string }
  /** Two teams of so many players come in, and kick off by themselves. */
  | { do: 'demo'; players: number } | { do: 'stop-demo' }
  | { do: 'puppet'; order: PuppetOrder }
  | { do: 'name-face'; face: number; name: string } | { do: 'forget-face'; name: string }
  | { do: 'start-run'; run: NewRun } | { do: 'stop-run'; name: string } | { do: 'resume-run'; name: string; generations?: number }
  /** Details, and more with every generation until another run, or null, is asked for. */
  | { do: 'run'; name: string | null }
  /** The best of a generation; of all, without one. */
  | { do: 'replay'; run: string; generation?: number }
  | { do: 'films' } | { do: 'open-film'; name: string } | { do: 'close-film' }
  /** So many frames from this one on, as binary frames, which come after the `done`. 250 at most. */
  | { do: 'frames'; from: number; count: number }
  /** Keys of 64 bytes, values of 64 kB as JSON, at most. */
  | { do: 'save'; key: string; value: unknown }
)

export type PuppetOrder =
  | 'reset'
  | { speak: string } | { volume: number } | { pitch: number }
  | { gesture: number } | { expression: number } | { 'look-at': number } | { blink: number }
  | { weigh: [subsystem: string, weight: number] }
  | { servo: [id: number, position: number] } | { servos: number[] }

export interface NewRun {
  /** Addresses of Robot Simulators; none to test in the run's own process. */
  simulators: string[]
  world: string
  body: string
  fitness: string | null
  algorithm: string
  generations: number
  population: number | null
  hidden: number | null
  seed: number
  target: number | null
}

// --- binary frames -------------------------------------------------------------------------------------------------------

/**
 * Byte 0 of a binary frame.
 *
 * poses:  u8 1, 3 bytes 0, u32 generation of the scene, f64 tick, f64 time, then for each body but the world:
 *         3 x i24 position in 0.1 mm, 3 x u16 orientation. Of each u16, bits 0 to 14 are a part of the quaternion:
 *         0 to 32767 for -1/sqrt(2) to 1/sqrt(2). Bit 15 of the first and of the second are the high and the low bit of the
 *         number of the part that is left out, of w, x, y, z; that one is positive and makes the length 1.
 * video:  u8 2, 3 bytes 0, u32 number of the picture, then a JPEG file.
 * sound:  u8 3, u8 1 if what was heard before ends now, 2 bytes 0, u32 samples a second, then i16 samples, one channel.
 *         A frame without samples is silence from now on.
 * film:   u8 4, 3 bytes 0, u32 number of the frame, then a poses frame.
 */
export const Frame = { poses: 1, video: 2, sound: 3, film: 4 } as const
