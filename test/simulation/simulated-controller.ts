import type { SeededRandom } from '../../src/base/seeded-random.ts'
import type { Client, ResourceType } from '../../src/client/index.ts'
import type { ManagedController } from '../../src/controllers/kit/index.ts'
import type { Invariant } from './invariant.ts'
import type { World } from './world.ts'

/** An action of a user, which may fail. */
export interface UserAction {
  readonly name: string
  /** The weight among all actions. */
  readonly weight: number
  run(client: Client, random: SeededRandom, world: World): Promise<unknown>
}

/** The controllers, user actions and rules of a scenario. */
export interface SimulatedController {
  readonly name: string
  /** The controllers that every manager runs while it leads. Called once in each life of a manager. */
  controllers(): readonly ManagedController[]
  /** Kinds whose annotations other clients may change at any time, without effect. */
  readonly touched: readonly ResourceType[]
  readonly userActions: readonly UserAction[]
  /** True if its own caches accept any list as the newest. Then no list is old. */
  readonly trustsLists?: boolean
  /** Starts other actors in the world, such as nodes. They continue after the faults. */
  actor?(world: World): void
  /** Called once for each run. */
  invariants(): readonly Invariant[]
}
