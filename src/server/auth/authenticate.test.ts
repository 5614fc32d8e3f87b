import { describe, expect, it } from 'vitest'
import { Authenticator, parseTokenFile } from './authenticate.ts'

const ali = { name: 'ali', groups: ['thieves', 'system:authenticated'] }
const authenticator = new Authenticator(new Map([['sesame', ali]]))
const ask = (authorization?: string, certificate?: { commonName: string; organizations: string[] }) => authenticator.authenticate({ authorization, certificate })

describe('Authenticator', () => {
  it.each([
    ['a token', 'Bearer sesame', ali],
    ['a token after more room, and in another case', 'bearer   sesame', ali],
    ['a wrong token', 'Bearer simsim', undefined],
    ['a token with something behind it', 'Bearer sesame x', undefined],
    ['no token', 'Bearer ', undefined],
    ['another scheme', 'Basic sesame', { name: 'system:anonymous', groups: ['system:unauthenticated'] }],
    ['nothing', undefined, { name: 'system:anonymous', groups: ['system:unauthenticated'] }],
  ])('%s', (_what, authorization, expected) => {
    expect(ask(authorization)).toEqual(expected)
  })

  it('knows who has a certificate, which counts more than a token', () => {
    const ann = { commonName: 'ann', organizations: ['staff'] }
    for (const authorization of [undefined, 'Bearer sesame']) expect(ask(authorization, ann)).toEqual({ name: 'ann', groups: ['staff', 'system:authenticated'] })
  })

  const shown = { commonName: 'eve', organizations: ['system:masters'] }
  it.each([
    ['without a name is nobody, as in Kubernetes', { ...shown, commonName: '' }, 'system:anonymous'],
    ['that nobody vouches for is refused', { ...shown, problem: 'expired' }, undefined],
    ['of the front proxy alone is refused', { ...shown, isProxy: true, isOnlyProxy: true }, undefined],
    ['of both authorities is a user', { ...shown, isProxy: true, isOnlyProxy: false }, 'eve'],
  ])('a certificate %s', (_what, certificate, name) => {
    expect((ask(undefined, certificate) as { name: string } | undefined)?.name).toBe(name)
  })
})

describe('parseTokenFile()', () => {
  it('reads tokens, users, uids and groups', () => {
    const users = parseTokenFile('# comment\n\nt1,ann,1\nt2, bob ,2,"a, b"\r\nt3,"c ""d""",,x\n')
    expect([...users]).toEqual([
      ['t1', { name: 'ann', uid: '1', groups: ['system:authenticated'] }],
      ['t2', { name: 'bob', uid: '2', groups: ['a', 'b', 'system:authenticated'] }],
      ['t3', { name: 'c "d"', groups: ['x', 'system:authenticated'] }],
    ])
  })

  it.each([
    ['t1,ann', 'token file line 1: must have at least 3 columns (token, user name, user uid), found 2'],
    ['t1,ann,1\n,bob,2', 'token file line 2: the token is empty'],
    ['t1,"ann,1', 'token file line 1: a quoted value is not closed'],
  ])('refuses %j', (text, message) => {
    expect(() => parseTokenFile(text)).toThrow(message)
  })
})
