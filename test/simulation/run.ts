import { SeededRandom } from '../../src/base/seeded-random.ts'
import { type Breakage, breakages } from './breakage.ts'
import { commonRules } from './common-rules.ts'
import type { Violation } from './invariant.ts'
import { scenarios } from './scenarios/index.ts'
import type { SimulatedController } from './simulated-controller.ts'
import { World } from './world.ts'

export interface RunOptions {
  seed: number
  /** The number of steps with faults. */
  steps: number
  profile?: string
  /** The number of API servers over the store. */
  servers?: number
  breakage?: Breakage
  /** The scenario. Default: chosen by the seed. */
  scenario?: string
}

export interface RunResult {
  seed: number
  /** Including the steps after the faults. */
  steps: number
  virtualMs: number
  /** Revisions of the store. */
  revisions: number
  violation: Violation | undefined
  history(last?: number): string[]
  digest(): string
}

/** The time limit after the faults. The detection of a frozen watch alone takes two minutes. */
const convergeMs = 15 * 60_000
/** A lost renewal may cost the leader its lease within this time after the faults, and another one must be elected. */
const aftermathMs = 12_000
/** The time for which nothing may happen then. */
const idleMs = 70_000
/** Convergence takes a few hundred steps. A world with so many steps loops while no time passes. */
const mostStepsAfterwards = 100_000

/** Runs one seed to the end, or to the first violation. */
export async function run({ seed, steps, profile = 'swarm', servers = 1, breakage, scenario = 'any' }: RunOptions): Promise<RunResult> {
  const mend = breakage ? breakages[breakage]() : () => {}
  let world: World | undefined
  const noteFailure = (e: unknown) => world?.judge('no part fails without anybody noticing', String(e))
  process.on('unhandledRejection', noteFailure)
  try {
    const controllers = controllersOf(scenario, seed)
    world = await World.create({ seed, profile, servers, controllers, invariants: commonRules() })
    const startMs = world.timeline.nowMs
    while (world.steps < steps && !world.violation) await world.step()
    if (!world.violation) await comeToRest(world)
    if (!world.violation) world.judgeEnd()
    const { history, timeline, truth, violation } = world
    return {
      seed,
      steps: world.steps,
      virtualMs: timeline.nowMs - startMs,
      revisions: truth.revision,
      violation,
      history: (last) => history.lines(last),
      digest: () => history.digest(),
    }
  } finally {
    process.off('unhandledRejection', noteFailure)
    mend()
  }
}

async function comeToRest(world: World): Promise<void> {
  world.calmDown()
  const { timeline } = world
  const lastStep = world.steps + mostStepsAfterwards
  /** False at the end of the run. */
  const step = async (): Promise<boolean> => {
    if (world.steps >= lastStep) world.judge('the world comes to rest', `it goes on after ${mostStepsAfterwards} steps`)
    else await world.step()
    return !world.violation
  }
  const deadlineMs = timeline.nowMs + convergeMs
  const certainMs = timeline.nowMs + aftermathMs
  let lack = world.unfinished()
  const isDue = () => (lack || timeline.nowMs < certainMs) && timeline.nowMs < deadlineMs
  while (isDue() && (await step())) lack = world.unfinished()
  if (world.violation) return
  if (lack) return world.judge('everything comes to rest after the faults', `after ${convergeMs / 60_000} minutes ${lack}`)
  world.history.add('world', 'everything is as it should be')
  // Requests in transit may still be reported.
  const quietMs = timeline.nowMs + 5000
  while (timeline.nowMs < quietMs && (await step()));
  world.isIdle = true
  const endMs = timeline.nowMs + idleMs
  while (timeline.nowMs < endMs && (await step())) {
    lack = world.unfinished()
    if (lack) world.judge('what is as it should be stays so', lack)
  }
}

function controllersOf(scenario: string, seed: number): readonly SimulatedController[] {
  const name = scenario === 'any' ? new SeededRandom(seed).fork('scenario').pick(Object.keys(scenarios)) : scenario
  const controllers = scenarios[name]
  if (!controllers) throw new Error(`there is no scenario ${JSON.stringify(name)}: ${Object.keys(scenarios).join(', ')}`)
  return controllers
}
