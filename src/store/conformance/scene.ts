// Only tests import this folder: the suite that every driver must pass.
import type { Clock } from '../../base/clock.ts'
import type { Store, StoreEvent, Versioned, WriteResult } from '../store.ts'

/** How the suite gets at a driver. */
export interface StoreUnderTest {
  open(clock: Clock): Promise<Store>
  /** Called after the store was closed. */
  remove(): Promise<void>
}

/** A clock that the test sets; nothing that a store of one process does may need a timer of it. */
export class SetClock implements Clock {
  timeMs = 1_000_000
  now(): number {
    return this.timeMs
  }
  after(): () => void {
    throw new Error('a store sets no timers')
  }
}

/** A store of its own for every test, and short ways to use it. */
export class Scene {
  readonly clock: SetClock
  readonly store: Store
  /** The revision of the store before the test. */
  readonly start: number
  #driver: StoreUnderTest

  private constructor(driver: StoreUnderTest, clock: SetClock, store: Store) {
    this.#driver = driver
    this.clock = clock
    this.store = store
    this.start = store.revision
  }

  static async open(make: () => Promise<StoreUnderTest>): Promise<Scene> {
    const driver = await make()
    const clock = new SetClock()
    return new Scene(driver, clock, await driver.open(clock))
  }

  async close(): Promise<void> {
    await this.store.close()
    await this.#driver.remove()
  }

  tryPut(key: string, value: string, expected = 0): Promise<WriteResult> {
    return this.store.write({ key, expected, value: bytes(value) })
  }

  tryRemove(key: string, expected: number): Promise<WriteResult> {
    return this.store.write({ key, expected, value: undefined })
  }

  /** The revision of a write that must succeed. */
  async put(key: string, value: string, expected = 0): Promise<number> {
    return revisionOf(await this.tryPut(key, value, expected))
  }

  async remove(key: string, expected: number): Promise<number> {
    return revisionOf(await this.tryRemove(key, expected))
  }

  /** Watches, keeping what comes: one list for each call. */
  async collect(prefix: string, from = this.start): Promise<{ calls: object[][]; ended: Error[] }> {
    const calls: object[][] = []
    const ended: Error[] = []
    await this.store.watch(prefix, from, (events) => calls.push(plain(events)), (why) => ended.push(why))
    return { calls, ended }
  }
}

function revisionOf(result: WriteResult): number {
  if (!result.ok) throw new Error(`refused: the key is at ${result.current?.revision}`)
  return result.revision
}

export const bytes = (text: string): Buffer => Buffer.from(text)

export const keysOf = (items: Versioned[]): string[] => items.map(({ key }) => key)

export const revisionsOf = (calls: object[][]): number[] => calls.flat().map((event) => (event as StoreEvent).revision)

/** Events as plain data, with what they replaced. */
export function plain(events: readonly StoreEvent[]): object[] {
  return events.map(({ previous, ...event }) => ({
    ...event,
    ...('value' in event ? { value: event.value.toString() } : {}),
    previous: previous && { ...previous, value: previous.value.toString() },
  }))
}

/** Lets everything run that is ready to. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
