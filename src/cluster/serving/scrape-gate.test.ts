import { beforeEach, describe, expect, it } from 'vitest'
import type { SubjectAccessReview, TokenReview } from '../../api/generated/types.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { type ApiRequest, Client, type Transport } from '../../client/index.ts'
import { ScrapeGate } from './scrape-gate.ts'

/** An API server that knows one token, and lets its owner and one certificate read /metrics. */
class Reviews implements Transport {
  readonly asked: string[] = []
  isAway = false

  async send<T>({ body, path }: ApiRequest): Promise<T> {
    if (this.isAway) throw new Error('connect ECONNREFUSED')
    this.asked.push(path)
    if (path.endsWith('/tokenreviews')) {
      const authenticated = (body as TokenReview).spec.token === 'good' || (body as TokenReview).spec.token === 'poor'
      const name = (body as TokenReview).spec.token === 'good' ? 'prometheus' : 'somebody'
      return { ...(body as object), status: authenticated ? { authenticated, user: { username: name, groups: ['system:authenticated'] } } : { error: 'invalid bearer token' } } as T
    }
    const { user, nonResourceAttributes } = (body as SubjectAccessReview).spec
    const allowed = ['prometheus', 'scraper'].includes(user ?? '') && nonResourceAttributes?.path === '/metrics' && nonResourceAttributes.verb === 'get'
    return { ...(body as object), status: { allowed } } as T
  }

  watch = () => () => {}
  close = async () => {}
}

let clock: VirtualClock
let reviews: Reviews
let gate: ScrapeGate
beforeEach(() => {
  clock = new VirtualClock()
  reviews = new Reviews()
  gate = new ScrapeGate({ client: new Client(reviews, { clock, random: new SeededRandom(1) }), clock, alwaysAllowPaths: ['/livez', '/debug/*'] })
})

interface Asked {
  path?: string
  method?: string
  token?: string
  commonName?: string
}

const ask = async ({ path = '/metrics', method = 'GET', token, commonName }: Asked) =>
  (await gate.refusalOf({
    url: `${path}?x=1`, method, certificate: commonName ? { commonName, organizations: ['o'] } : undefined,
    header: (name) => (name === 'authorization' && token ? `Bearer ${token}` : undefined),
  }))?.code ?? 200

describe('ScrapeGate answers', () => {
  it.each<[string, Asked, number]>([
    ['a token whose owner may', { token: 'good' }, 200],
    ['a token whose owner may not', { token: 'poor' }, 403],
    ['a token that nobody has', { token: 'bad' }, 401],
    ['nobody in particular', {}, 401],
    ['another path', { token: 'good', path: '/slo' }, 403],
    ['another verb', { token: 'good', method: 'POST' }, 403],
    ['a client certificate whose user may', { commonName: 'scraper' }, 200],
    ['a client certificate whose user may not', { commonName: 'other' }, 403],
    ['a path that everybody may read', { path: '/livez' }, 200],
    ['a path below one that everybody may read', { path: '/debug/pprof' }, 200],
  ])('%s', async (_, asked, code) => {
    expect(await ask(asked)).toBe(code)
  })

  it('the same for ten seconds without asking again', async () => {
    for (let i = 0; i < 3; i++) expect(await ask({ token: 'good' })).toBe(200)
    expect(reviews.asked).toHaveLength(2)
    clock.advance(10_000)
    expect(await ask({ token: 'good' })).toBe(200)
    expect(reviews.asked).toHaveLength(4)
  })

  it('nobody while the API server is away, but for those whom it has just vouched for', async () => {
    expect(await ask({ token: 'good' })).toBe(200)
    reviews.isAway = true
    expect(await ask({ token: 'good' })).toBe(200)
    expect(await ask({ token: 'poor' })).toBe(500)
    clock.advance(10_000)
    expect(await ask({ token: 'good' })).toBe(500)
    expect(await ask({ path: '/livez' })).toBe(200)
  })
})
