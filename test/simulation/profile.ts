import type { SeededRandom } from '../../src/base/seeded-random.ts'

/** Faults of the world that are chosen step by step; the number says how often, against the others. */
export interface WorldFaults {
  breakWatch: number
  freezeWatch: number
  lagWatch: number
  crashManager: number
  stopManager: number
  pauseManager: number
  jumpManagerClock: number
  crashServer: number
  pauseServer: number
  jumpServerClock: number
  compact: number
  touch: number
}

/** How rough a world is. Numbers are probabilities. */
export interface Profile {
  name: string
  /** Whether several managers stand for election; else there is one that acts whenever it runs. */
  election: boolean
  /** A step is something a user does. */
  userAction: number
  /** A step is a fault of the world. */
  worldFault: number
  world: WorldFaults
  /** A request or an answer takes a while. Each is a step of its own then, and anything may come between. */
  slowRequest: number
  /** It never leaves its sender, who knows that. */
  unsent: number
  /** It gets lost on its way; the sender waits in vain. */
  lostRequest: number
  /** Its sender is told that the connection broke, and it arrives nevertheless. */
  lateRequest: number
  /** It takes effect, and the answer gets lost. */
  lostAnswer: number
  /** The server answers with 500, 503 or 429 and has done nothing. */
  errorBefore: number
  /** The server answers with 500 or 504 and has done it. */
  errorAfter: number
  /** Somebody else changes the object just before a write to it arrives. */
  rival: number
  /** A commit takes a while. */
  slowDisk: number
  /** A watch event takes a while, and with it all behind it. */
  slowEvent: number
  duplicateEvent: number
  /** A watch is refused when it is opened. */
  refusedWatch: number
  /** A list is answered as by a server that is behind, and a watch that is to begin with one is refused. */
  staleList: number
}

const noWorldFaults: WorldFaults = {
  breakWatch: 0,
  freezeWatch: 0,
  lagWatch: 0,
  crashManager: 0,
  stopManager: 0,
  pauseManager: 0,
  jumpManagerClock: 0,
  crashServer: 0,
  pauseServer: 0,
  jumpServerClock: 0,
  compact: 0,
  touch: 0,
}

const calm: Profile = {
  name: 'calm',
  election: true,
  userAction: 0.02,
  worldFault: 0,
  world: noWorldFaults,
  slowRequest: 0.5,
  unsent: 0,
  lostRequest: 0,
  lateRequest: 0,
  lostAnswer: 0,
  errorBefore: 0,
  errorAfter: 0,
  rival: 0,
  slowDisk: 0,
  slowEvent: 0.5,
  duplicateEvent: 0,
  refusedWatch: 0,
  staleList: 0,
}

/** Everything at once. */
const rough: Profile = {
  name: 'rough',
  election: true,
  userAction: 0.05,
  worldFault: 0.02,
  world: {
    breakWatch: 4,
    freezeWatch: 1,
    lagWatch: 6,
    crashManager: 3,
    stopManager: 1,
    pauseManager: 3,
    jumpManagerClock: 1,
    crashServer: 1,
    pauseServer: 1,
    jumpServerClock: 1,
    compact: 3,
    touch: 2,
  },
  slowRequest: 0.6,
  unsent: 0.01,
  lostRequest: 0.01,
  lateRequest: 0.01,
  lostAnswer: 0.02,
  errorBefore: 0.03,
  errorAfter: 0.02,
  rival: 0.03,
  slowDisk: 0.1,
  slowEvent: 0.5,
  duplicateEvent: 0.03,
  refusedWatch: 0.05,
  staleList: 0.3,
}

/** Only the caches are behind. */
const stale: Profile = {
  ...calm,
  name: 'stale',
  userAction: 0.04,
  worldFault: 0.02,
  world: { ...noWorldFaults, lagWatch: 8, breakWatch: 2, freezeWatch: 1, compact: 1 },
  slowEvent: 0.4,
  staleList: 0.3,
}

/** Only leaders come and go. */
const election: Profile = {
  ...calm,
  name: 'election',
  worldFault: 0.02,
  world: { ...noWorldFaults, crashManager: 3, stopManager: 2, pauseManager: 5, jumpManagerClock: 3, crashServer: 1, pauseServer: 1, lagWatch: 2 },
  lostAnswer: 0.02,
  lostRequest: 0.02,
  lateRequest: 0.02,
  rival: 0.02,
}

/** Only requests go wrong. */
const errors: Profile = { ...rough, name: 'errors', worldFault: 0.002, world: { ...noWorldFaults, crashServer: 1, touch: 1 }, lostRequest: 0.04, lateRequest: 0.04, lostAnswer: 0.06, errorBefore: 0.08, errorAfter: 0.06, unsent: 0.04 }

/** Only watches fall silent, and clocks are set. */
const clocks: Profile = { ...calm, name: 'clocks', election: false, worldFault: 0.03, world: { ...noWorldFaults, freezeWatch: 3, lagWatch: 2, jumpManagerClock: 3, jumpServerClock: 1 } }

const fixed: Record<string, Profile> = { calm, rough, stale, election, errors, clocks }

export const profileNames: readonly string[] = ['swarm', ...Object.keys(fixed)]

/** What a swarm leaves out or makes more or less frequent, besides the world's faults. */
const ofRequests = [
  'unsent',
  'lostRequest',
  'lateRequest',
  'lostAnswer',
  'errorBefore',
  'errorAfter',
  'rival',
  'slowDisk',
  'duplicateEvent',
  'refusedWatch',
  'staleList',
] as const

/**
 * A profile by its name. `swarm` makes one up: a random part of all faults, each more or less often, so that rare combinations have
 * their runs too and no fault hides behind a commoner one.
 */
export function chooseProfile(name: string, random: SeededRandom): Profile {
  if (name !== 'swarm') {
    const profile = fixed[name]
    if (!profile) throw new Error(`there is no profile ${JSON.stringify(name)}: ${profileNames.join(', ')}`)
    return profile
  }
  const some = (value: number) => (random.chance(0.6) ? value * random.between(0.3, 2) : 0)
  const world = { ...noWorldFaults }
  for (const fault of Object.keys(world) as (keyof WorldFaults)[]) world[fault] = some(rough.world[fault])
  const profile: Profile = { ...rough, name: 'swarm', election: random.chance(0.75), world }
  for (const key of ofRequests) profile[key] = some(rough[key])
  // Who starts without knowing what was written before it cannot tell an old list from a new one.
  if (!profile.election) profile.staleList = 0
  profile.slowRequest = random.between(0.3, 1)
  profile.slowEvent = random.between(0.2, 0.8)
  profile.userAction = rough.userAction * random.between(0.3, 2)
  profile.worldFault = Object.values(world).some((weight) => weight > 0) ? rough.worldFault * random.between(0.3, 2) : 0
  return profile
}
