import type { SeededRandom } from '../../src/base/seeded-random.ts'
import type { Client, ResourceType } from '../../src/client/index.ts'
import type { ManagedController } from '../../src/controllers/kit/index.ts'
import type { Invariant } from './invariant.ts'
import type { World } from './world.ts'

/** Something a user does; it may fail, as users' requests do. */
export interface UserAction {
  readonly name: string
  /** How often, against the other actions. */
  readonly weight: number
  run(client: Client, random: SeededRandom, world: World): Promise<unknown>
}

/** A controller as the simulation needs it: what runs, what is done to it, and what must hold. */
export interface SimulatedController {
  readonly name: string
  /** What every manager runs while it leads. Asked for once in each of its lives. */
  controllers(): readonly ManagedController[]
  /** Kinds that others may touch at any time: in annotations, which concern nobody. */
  readonly touched: readonly ResourceType[]
  readonly userActions: readonly UserAction[]
  /** True if it has caches of its own that take any list for the newest: then none is old. */
  readonly trustsLists?: boolean
  /** Sets up who else acts in the world, as nodes do; it goes on when faults have stopped. */
  actor?(world: World): void
  /** Once for each run. */
  invariants(): readonly Invariant[]
}
