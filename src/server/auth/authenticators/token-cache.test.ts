import { beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../base/logger.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import type { Identified, TokenReader } from '../authenticate.ts'
import { cachedTokens } from './token-cache.ts'
import { webhookTokens } from './webhook.ts'

const own = ['https://here']
let clock: VirtualClock
let asked: string[]
const found = (name: string): Identified => ({ user: { name, groups: [] }, audiences: [] })
const slow: TokenReader = async (token) => {
  asked.push(token)
  return token.startsWith('good') ? found(token) : undefined
}

beforeEach(() => {
  clock = new VirtualClock()
  asked = []
})

const cached = (most = 100) => cachedTokens(slow, { clock, acceptedMs: 10_000, refusedMs: 1000, most })

describe('cachedTokens()', () => {
  it.each([
    ['an accepted token', 'good', 9_999, 10_000],
    ['a refused token', 'bad', 999, 1000],
  ])('asks about %s again only after its time', async (_what, token, before, after) => {
    const read = cached()
    const first = await read(token, own)
    clock.advance(before)
    expect(await read(token, own)).toEqual(first)
    expect(asked).toHaveLength(1)
    clock.advance(after - before)
    await read(token, own)
    expect(asked).toHaveLength(2)
  })

  it('asks once for requests at the same time, and for each list of audiences', async () => {
    const read = cached()
    await Promise.all([read('good', own), read('good', own), read('good', ['other'])])
    expect(asked).toHaveLength(2)
  })

  it('forgets the oldest when there are too many', async () => {
    const read = cached(2)
    for (const token of ['good1', 'good2', 'good3', 'good1']) await read(token, own)
    expect(asked).toEqual(['good1', 'good2', 'good3', 'good1'])
  })
})

describe('webhookTokens()', () => {
  const user = { username: 'ann', uid: '1', groups: ['crew'], extra: { a: ['b'] } }
  const name = { name: 'ann', uid: '1', groups: ['crew', 'system:authenticated'], extra: { a: ['b'] } }
  it.each<[string, unknown, readonly string[], unknown]>([
    ['a user', { authenticated: true, user }, own, { user: name, audiences: own }],
    [
      'a user for an audience',
      { authenticated: true, user, audiences: ['vault'] }, ['vault', 'x'], { user: name, audiences: ['vault'] },
    ],
    ['a user for another audience', { authenticated: true, user, audiences: ['vault'] }, own, undefined],
    ['a user without audiences, for somebody else', { authenticated: true, user }, ['vault'], undefined],
    ['nobody', { authenticated: false, user }, own, undefined],
    ['a user without a name', { authenticated: true, user: {} }, own, undefined],
    ['nothing', undefined, own, undefined],
    ['a user whom a text calls authenticated', { authenticated: 'false', user }, own, undefined],
    ['a user with groups that are no list', { authenticated: true, user: { ...user, groups: 'crew' } }, own, undefined],
    ['a user with a number for a name', { authenticated: true, user: { username: 5 } }, own, undefined],
  ])('%s', async (_what, status, wanted, expected) => {
    const sent: object[] = []
    const post = async (review: object) => {
      sent.push(review)
      return { kind: 'TokenReview', status }
    }
    const read = webhookTokens({ version: 'v1', own, post, logger: silentLogger })
    expect(await read('t', wanted)).toEqual(expected)
    const spec = { token: 't', audiences: wanted }
    expect(sent).toEqual([{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }])
  })

  it('knows nobody where the webhook fails', async () => {
    const post = () => Promise.reject(new Error('no'))
    const read = webhookTokens({ version: 'v1', own, post, logger: silentLogger })
    expect(await read('t', own)).toBeUndefined()
  })
})
