import { createSocket } from 'node:dgram'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { Upstream } from './upstream.ts'

/** A query for the root, and the same as a response. */
const query = Buffer.from('0007010000010000000000000000010001', 'hex')
const answer = Buffer.from('0007818000010000000000000000010001', 'hex')
/** A broadcast address: connect(2) refuses it, as it refuses an address without a route. */
const unreachable = '255.255.255.255'
const resolver = createSocket('udp4')
const upstream = (...servers: string[]) =>
  new Upstream({ servers, port: resolver.address().port, clock: systemClock, random: new SeededRandom(1) })

beforeAll(async () => {
  resolver.on('message', (asked, from) => {
    const said = Buffer.from(answer)
    asked.copy(said, 0, 0, 2)
    resolver.send(said, from.port, from.address)
  })
  await new Promise<void>((resolve) => resolver.bind(0, '127.0.0.1', resolve))
})
afterAll(() => void resolver.close())

describe('Upstream', () => {
  it('asks the next resolver if one has no route', async () => {
    expect(await upstream(unreachable, '127.0.0.1').ask(query, false)).toEqual(answer)
  })

  it('has no answer if no resolver has a route', async () => {
    expect(await upstream(unreachable, unreachable).ask(query, false)).toBeUndefined()
  })
})
