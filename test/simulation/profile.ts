import type { SeededRandom } from '../../src/base/seeded-random.ts'

/** The weights of the world's faults, which are chosen step by step. */
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

/** The frequencies of faults, as probabilities. */
export interface Profile {
  name: string
  /** True if several managers compete for leadership. Otherwise one manager always acts. */
  election: boolean
  /** A step is an action of a user. */
  userAction: number
  /** A step is a fault of the world. */
  worldFault: number
  world: WorldFaults
  /** A request or a response is delayed. Each is then a step of its own, with others in between. */
  slowRequest: number
  /** A request is not sent, and its sender knows that. */
  unsent: number
  /** A request is lost, and its sender gets no response. */
  lostRequest: number
  /** A request arrives after its sender was told that the connection broke. */
  lateRequest: number
  /** A request takes effect, and the response is lost. */
  lostAnswer: number
  /** The server responds with 500, 503 or 429 and has done nothing. */
  errorBefore: number
  /** The server responds with 500 or 504 and has executed the request. */
  errorAfter: number
  /** Another client changes the object just before a write arrives. */
  rival: number
  /** A commit is delayed. */
  slowDisk: number
  /** A watch event and all events after it are delayed. */
  slowEvent: number
  duplicateEvent: number
  /** A watch is rejected. */
  refusedWatch: number
  /** A list has an earlier state, and a watch that starts with a list is rejected. */
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

/** All faults. */
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

/** Only delayed caches. */
const stale: Profile = {
  ...calm,
  name: 'stale',
  userAction: 0.04,
  worldFault: 0.02,
  world: { ...noWorldFaults, lagWatch: 8, breakWatch: 2, freezeWatch: 1, compact: 1 },
  slowEvent: 0.4,
  staleList: 0.3,
}

/** Only changes of leaders. */
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

/** Only faults of requests. */
const errors: Profile = { ...rough, name: 'errors', worldFault: 0.002, world: { ...noWorldFaults, crashServer: 1, touch: 1 }, lostRequest: 0.04, lateRequest: 0.04, lostAnswer: 0.06, errorBefore: 0.08, errorAfter: 0.06, unsent: 0.04 }

/** Only silent watches and changed clocks. */
const clocks: Profile = { ...calm, name: 'clocks', election: false, worldFault: 0.03, world: { ...noWorldFaults, freezeWatch: 3, lagWatch: 2, jumpManagerClock: 3, jumpServerClock: 1 } }

const fixed: Record<string, Profile> = { calm, rough, stale, election, errors, clocks }

export const profileNames: readonly string[] = ['swarm', ...Object.keys(fixed)]

/** The faults of requests that a swarm omits or changes in frequency. */
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
 * Returns a profile by name. `swarm` chooses a random subset of the faults with random frequencies, so that rare
 * combinations occur, and frequent faults do not hide rare ones.
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
  // A process that starts without knowing earlier writes cannot distinguish an old list from a new one.
  if (!profile.election) profile.staleList = 0
  profile.slowRequest = random.between(0.3, 1)
  profile.slowEvent = random.between(0.2, 0.8)
  profile.userAction = rough.userAction * random.between(0.3, 2)
  profile.worldFault = Object.values(world).some((weight) => weight > 0) ? rough.worldFault * random.between(0.3, 2) : 0
  return profile
}
