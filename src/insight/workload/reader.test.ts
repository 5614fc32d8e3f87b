import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { type ApiRequest, Client, type Transport, nodes, poddisruptionbudgets } from '../../client/index.ts'
import { Reader, mapSome } from './reader.ts'

/** A server with 30 nodes that counts its requests, and refuses some. */
class CountingTransport implements Transport {
  readonly paths: string[] = []
  readonly #refused: string

  constructor(refused = 'nothing') {
    this.#refused = refused
  }

  async send<T>({ path }: ApiRequest): Promise<T> {
    this.paths.push(path)
    if (path.includes(this.#refused)) throw new ApiError(403, 'Forbidden', 'forbidden', {})
    const all = Array.from({ length: 30 }, (_, i) => ({ metadata: { name: `n-${i}` } }))
    if (path.endsWith('/nodes') || path.endsWith('budgets')) return { metadata: {}, items: all } as T
    const found = all.find(({ metadata }) => path.endsWith(`/${metadata.name}`))
    if (!found) throw new ApiError(404, 'NotFound', 'not found', { name: 'x' })
    return found as T
  }

  watch(): () => void {
    return () => {}
  }

  async close(): Promise<void> {}
}

describe('Reader.findAll()', () => {
  it('tells what does not exist', async () => {
    const found = await new Reader(new Client(new CountingTransport())).findAll(nodes, '', ['n-1', 'gone'])
    expect([...found!].map(([name, node]) => [name, node?.metadata.name])).toEqual([
      ['n-1', 'n-1'],
      ['gone', undefined],
    ])
  })

  it('lists where there are many names', async () => {
    const transport = new CountingTransport()
    const names = Array.from({ length: 25 }, (_, i) => `n-${i + 10}`)
    const found = await new Reader(new Client(transport)).findAll(nodes, '', names)
    expect(transport.paths).toEqual(['/api/v1/nodes'])
    expect([found!.size, [...found!.values()].filter((node) => node === null).length]).toEqual([25, 5])
  })

  it('asks once for what it may not read, and says so', async () => {
    const transport = new CountingTransport('/nodes')
    const reader = new Reader(new Client(transport))
    expect(await reader.findAll(nodes, '', ['n-1'])).toBeUndefined()
    expect(await reader.findAll(nodes, '', ['n-2'])).toBeUndefined()
    expect(transport.paths).toHaveLength(1)
    expect(reader.unread).toEqual(['nodes (Forbidden)'])
  })
})

it('a reader with a memory asks the same thing again only when that is old', async () => {
  const clock = new VirtualClock()
  const transport = new CountingTransport()
  const reader = new Reader(new Client(transport), { clock, maxAgeMs: 3000 })
  const read = () => reader.list(poddisruptionbudgets, 'default')
  await Promise.all([read(), read()])
  clock.advance(3000)
  await read()
  expect(transport.paths).toHaveLength(1)
  clock.advance(1)
  await read()
  expect(transport.paths).toHaveLength(2)
})

it('mapSome() keeps the order, does a few at a time, and ends with the first error', async () => {
  let running = 0
  let most = 0
  const work = async (n: number) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    if (n < 0) throw new Error('negative')
    return n * 2
  }
  const numbers = Array.from({ length: 50 }, (_, i) => i)
  expect(await mapSome(numbers, work)).toEqual(numbers.map((n) => n * 2))
  expect(most).toBe(8)
  await expect(mapSome([1, -1, 2], work)).rejects.toThrow('negative')
})

it('a reader with a memory asks again after an error, and not after a refusal', async () => {
  const transport = new CountingTransport('/nodes')
  const clock = new VirtualClock(0)
  const reader = new Reader(new Client(transport), { clock, maxAgeMs: 5000 })
  for (const _ of [1, 2]) expect(await reader.list(nodes, '')).toBeUndefined()
  expect(transport.paths).toHaveLength(1)
  transport.send = async () => {
    transport.paths.push('failed')
    throw new ApiError(400, 'BadRequest', 'a fault of the test', {})
  }
  for (const _ of [1, 2]) await expect(reader.list(poddisruptionbudgets, '')).rejects.toThrow('a fault of the test')
  expect(transport.paths.filter((path) => path === 'failed')).toHaveLength(2)
})
