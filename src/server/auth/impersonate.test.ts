import { describe, expect, it } from 'vitest'
import { impersonated } from './impersonate.ts'

const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] }

function asked(headers: Record<string, string>) {
  return impersonated(admin, (name) => headers[name], Object.keys(headers).filter((n) => n.startsWith('impersonate-extra-')))
}

describe('impersonated()', () => {
  it('is the sender where nobody is named', () => {
    expect(asked({})).toEqual({ user: admin, attempts: [] })
  })

  it('is the user named, with the groups named and that of everybody who is let in', () => {
    expect(asked({ 'impersonate-user': 'bob', 'impersonate-group': 'rowers, steersmen' }).user).toEqual({
      name: 'bob',
      groups: ['rowers', 'steersmen', 'system:authenticated'],
    })
  })

  it('takes the uid and what is extra along', () => {
    const { user } = asked({ 'impersonate-user': 'bob', 'impersonate-uid': '7', 'impersonate-extra-example.com%2fscope': 'a, b' })
    expect(user).toMatchObject({ uid: '7', extra: { 'example.com/scope': ['a', 'b'] } })
  })

  it.each<[string, Record<string, string>, string[]]>([
    ['a user', { 'impersonate-user': 'bob' }, ['users bob']],
    ['a service account', { 'impersonate-user': 'system:serviceaccount:blue:default' }, ['serviceaccounts blue default']],
    ['groups', { 'impersonate-user': 'bob', 'impersonate-group': 'a, b' }, ['users bob', 'groups a', 'groups b']],
    ['a uid', { 'impersonate-user': 'bob', 'impersonate-uid': '7' }, ['users bob', 'authentication.k8s.io uids 7']],
    ['what is extra', { 'impersonate-user': 'bob', 'impersonate-extra-scope': 'x,y' },
      ['users bob', 'authentication.k8s.io userextras/scope x', 'authentication.k8s.io userextras/scope y']],
  ])('has its sender allowed to impersonate %s', (_, headers, attempts) => {
    const told = asked(headers).attempts.map(({ verb, path: { group, plural, subresource, namespace, name } }) => {
      expect(verb).toBe('impersonate')
      return [group, subresource ? `${plural}/${subresource}` : plural, namespace, name].filter((text) => text !== '').join(' ')
    })
    expect(told).toEqual(attempts)
  })

  it('is a member of the groups of its namespace as a service account', () => {
    expect(asked({ 'impersonate-user': 'system:serviceaccount:blue:default' }).user.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:blue', 'system:authenticated'])
  })

  it('refuses groups of nobody', () => {
    expect(() => asked({ 'impersonate-group': 'rowers' })).toThrow('without impersonating a user')
  })
})
