import { beforeEach, describe, expect, it } from 'vitest'
import type { ServiceAccount } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { ServiceAccountTokens, type TokenWish, defaultIssuer as issuer } from './service-account-tokens.ts'

const account = { metadata: { namespace: 'shop', name: 'robot', uid: 'u1' } } as ServiceAccount
let clock: VirtualClock
let tokens: ServiceAccountTokens
let stored: Map<string, KubeObject>
const reader: ObjectReader = {
  get: (_group, plural, namespace, name) => stored.get(`${plural} ${namespace}/${name}`) as never,
  list: () => [],
}

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  tokens = new ServiceAccountTokens(clock, new SeededRandom(1))
  stored = new Map([
    ['serviceaccounts shop/robot', account],
    ['pods shop/web', { metadata: { name: 'web', uid: 'p1' } } as KubeObject],
  ])
})

const issue = (more: Partial<TokenWish> = {}) => tokens.issue({ account, audiences: [issuer], expirationSeconds: 600, bound: undefined, ...more }).token
const bound = { kind: 'Pod', name: 'web', uid: 'p1' } as const

describe('ServiceAccountTokens', () => {
  it('knows its own tokens, and whom they stand for', () => {
    expect(tokens.userOf(issue({ bound, node: { name: 'n1', uid: 'n' } }), reader)).toMatchObject({
      name: 'system:serviceaccount:shop:robot',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/pod-name': ['web'], 'authentication.kubernetes.io/node-name': ['n1'] },
    })
  })

  it.each<[string, () => string]>([
    ['that is for somebody else', () => issue({ audiences: ['vault'] })],
    ['whose time is over', () => {
      const token = issue()
      clock.advance(600_000)
      return token
    }],
    ['whose account is another one now', () => {
      const token = issue()
      stored.set('serviceaccounts shop/robot', { metadata: { name: 'robot', uid: 'u2' } } as KubeObject)
      return token
    }],
    ['whose pod is gone', () => {
      const token = issue({ bound })
      stored.delete('pods shop/web')
      return token
    }],
    ['that was changed', () => issue().replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify({ sub: 'system:admin', aud: [issuer], iss: issuer, nbf: 0, exp: 9e9 })).toString('base64url')}.`)],
    ['that another server has signed', () => new ServiceAccountTokens(clock, new SeededRandom(2)).issue({ account, audiences: [issuer], expirationSeconds: 600, bound: undefined }).token],
    ['without a signature', () => `${issue().split('.').slice(0, 2).join('.')}.`],
    ['that is none', () => 'a.b.c'],
    ['that is a word', () => 'sesame'],
  ])('knows no token %s', (_what, make) => {
    expect(tokens.userOf(make(), reader)).toBeUndefined()
  })

  it('forgets nobody while their account exists, and everybody when it does not', () => {
    const token = issue()
    expect(tokens.userOf(token, reader)).toBeDefined()
    stored.clear()
    expect(tokens.userOf(token, reader)).toBeUndefined()
  })
})
