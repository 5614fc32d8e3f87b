// Only tests import this folder: the suite that every driver must pass.
import type { Clock } from '../../base/clock.ts'
import type { Store, StoreEvent, Versioned, WriteResult } from '../store.ts'

/** Gives the suite access to a driver. */
export interface StoreUnderTest {
  open(clock: Clock): Promise<Store>
  /** Removes the data after the store has been closed. */
  remove(): Promise<void>
}

/** A clock that the test sets. A store that only this process writes to must not depend on its timers. */
export class SetClock implements Clock {
  timeMs = 1_000_000
  now(): number {
    return this.timeMs
  }
  after(): () => void {
    throw new Error('a store sets no timers')
  }
}

/** One store for each test, with short methods to use it. */
export class Scene {
  readonly clock: SetClock
  readonly store: Store
  /** The store's revision at the start of the test. */
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

  /** Writes a value and returns its revision. Fails if the write is refused. */
  async put(key: string, value: string, expected = 0): Promise<number> {
    return revisionOf(await this.tryPut(key, value, expected))
  }

  async remove(key: string, expected: number): Promise<number> {
    return revisionOf(await this.tryRemove(key, expected))
  }

  /** Starts a watch and collects its events, one list for each callback. */
  async collect(prefix: string, from = this.start): Promise<{ calls: object[][]; ended: Error[] }> {
    const calls: object[][] = []
    const ended: Error[] = []
    await this.store.watch(
      prefix,
      from,
      (events) => calls.push(plain(events)),
      (why) => ended.push(why),
    )
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

/** Converts events to plain data, with the values they replaced. */
export function plain(events: readonly StoreEvent[]): object[] {
  return events.map(({ previous, ...event }) => ({
    ...event,
    ...('value' in event ? { value: event.value.toString() } : {}),
    previous: previous && { ...previous, value: previous.value.toString() },
  }))
}

/** Runs all pending callbacks. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
