import { describe, expect, it } from 'vitest'
import { impersonated } from './impersonate.ts'

const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] }

function asked(headers: Record<string, string>) {
  return impersonated(admin, (name) => headers[name], Object.keys(headers).filter((n) => n.startsWith('impersonate-extra-')))
}

describe('impersonated()', () => {
  it('is the sender where nobody is named', () => {
    expect(asked({})).toBe(admin)
  })

  it('is the user named, with the groups named and that of everybody who is let in', () => {
    expect(asked({ 'impersonate-user': 'bob', 'impersonate-group': 'rowers, steersmen' })).toEqual({
      name: 'bob',
      groups: ['rowers', 'steersmen', 'system:authenticated'],
    })
  })

  it('takes the uid and what is extra along', () => {
    const user = asked({ 'impersonate-user': 'bob', 'impersonate-uid': '7', 'impersonate-extra-example.com%2fscope': 'a, b' })
    expect(user).toMatchObject({ uid: '7', extra: { 'example.com/scope': ['a', 'b'] } })
  })

  it('refuses groups of nobody', () => {
    expect(() => asked({ 'impersonate-group': 'rowers' })).toThrow('without impersonating a user')
  })
})
