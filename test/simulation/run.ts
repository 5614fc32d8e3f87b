import { SeededRandom } from '../../src/base/seeded-random.ts'
import { type Breakage, breakages } from './breakage.ts'
import { commonRules } from './common-rules.ts'
import type { Violation } from './invariant.ts'
import { scenarios } from './scenarios/index.ts'
import type { SimulatedController } from './simulated-controller.ts'
import { World } from './world.ts'

export interface RunOptions {
  seed: number
  /** How many steps there are faults for. */
  steps: number
  profile?: string
  breakage?: Breakage
  /** What is simulated; by default whichever of all the seed takes. */
  scenario?: string
}

export interface RunResult {
  seed: number
  /** With those after the faults. */
  steps: number
  virtualMs: number
  /** Of the store. */
  revisions: number
  violation: Violation | undefined
  history(last?: number): string[]
  digest(): string
}

/** How long it may take after the faults until everything is as it should be. A frozen watch alone takes two minutes to be noticed. */
const convergeMs = 15 * 60_000
/** A renewal that got lost before may cost the leader its lease for that long after the faults, and somebody has to be elected. */
const aftermathMs = 12_000
/** How long nothing may happen then. */
const idleMs = 70_000

/** Runs one seed from beginning to end, or to the first rule that is broken. */
export async function run({ seed, steps, profile = 'swarm', breakage, scenario = 'any' }: RunOptions): Promise<RunResult> {
  const mend = breakage ? breakages[breakage]() : () => {}
  try {
    const world = await World.create({ seed, profile, controllers: controllersOf(scenario, seed), invariants: commonRules() })
    const startMs = world.timeline.nowMs
    while (world.steps < steps && !world.violation) await world.step()
    if (!world.violation) await comeToRest(world)
    if (!world.violation) world.judgeEnd()
    return {
      seed,
      steps: world.steps,
      virtualMs: world.timeline.nowMs - startMs,
      revisions: world.truth.revision,
      violation: world.violation,
      history: (last) => world.history.lines(last),
      digest: () => world.history.digest(),
    }
  } finally {
    mend()
  }
}

async function comeToRest(world: World): Promise<void> {
  world.calmDown()
  const { timeline } = world
  const deadlineMs = timeline.nowMs + convergeMs
  const certainMs = timeline.nowMs + aftermathMs
  let lack = world.unfinished()
  while ((lack || timeline.nowMs < certainMs) && timeline.nowMs < deadlineMs && !world.violation) {
    await world.step()
    lack = world.unfinished()
  }
  if (lack) return world.judge('everything comes to rest after the faults', `after ${convergeMs / 60_000} minutes ${lack}`)
  world.history.add('world', 'everything is as it should be')
  // What is under way may still be told of.
  const quietMs = timeline.nowMs + 5000
  while (timeline.nowMs < quietMs && !world.violation) await world.step()
  world.isIdle = true
  const endMs = timeline.nowMs + idleMs
  while (timeline.nowMs < endMs && !world.violation) {
    await world.step()
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
