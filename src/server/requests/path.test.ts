import { describe, expect, it } from 'vitest'
import { parsePath } from './path.ts'

describe('parsePath()', () => {
  it.each([
    ['a collection across namespaces', '/api/v1/pods', { apiVersion: 'v1', group: '', plural: 'pods', name: '', namespace: '', inNamespace: false }],
    ['a collection in a namespace', '/api/v1/namespaces/x/pods', { plural: 'pods', namespace: 'x', name: '', inNamespace: true }],
    ['an object', '/api/v1/namespaces/x/pods/p', { plural: 'pods', namespace: 'x', name: 'p', subresource: '' }],
    ['a subresource', '/api/v1/namespaces/x/pods/p/status', { name: 'p', subresource: 'status', rest: '' }],
    ['what is behind a subresource', '/api/v1/namespaces/x/services/s/proxy/a/b', { subresource: 'proxy', rest: 'a/b' }],
    ['a group', '/apis/apps/v1/namespaces/x/deployments/d', { apiVersion: 'apps/v1', group: 'apps', version: 'v1', plural: 'deployments', name: 'd' }],
    ['the namespaces themselves', '/api/v1/namespaces', { plural: 'namespaces', name: '', inNamespace: false }],
    ['one namespace', '/api/v1/namespaces/x', { plural: 'namespaces', name: 'x', inNamespace: false }],
    ['the status of a namespace', '/api/v1/namespaces/x/status', { plural: 'namespaces', name: 'x', subresource: 'status' }],
    ['the end of a namespace', '/api/v1/namespaces/x/finalize', { plural: 'namespaces', name: 'x', subresource: 'finalize' }],
    ['a collection called status', '/api/v1/namespaces/x/status/y', { plural: 'status', namespace: 'x', name: 'y' }],
    ['an old watch', '/api/v1/watch/namespaces/x/pods/p', { isOldWatch: true, plural: 'pods', namespace: 'x', name: 'p' }],
    ['a kind called watch', '/api/v1/watch', { isOldWatch: false, plural: 'watch' }],
    ['an escaped name', '/api/v1/namespaces/x/pods/a%2Fb%20c', { name: 'a/b c' }],
    ['an escaped climb, which is a name like any other', '/api/v1/namespaces/%2e%2e/pods', { namespace: '..', plural: 'pods' }],
    ['a slash at the end', '/api/v1/pods/', { plural: 'pods', name: '', trailingSlash: true }],
  ])('reads %s', (_what, path, expected) => {
    expect(parsePath(path)).toMatchObject({ kind: 'resource', ...expected })
  })

  it.each([
    ['/api', { root: '/api', group: '', version: '' }],
    ['/api/v1', { root: '/api', version: 'v1' }],
    ['/apis', { root: '/apis', group: '' }],
    ['/apis/apps', { root: '/apis', group: 'apps', version: '' }],
    ['/apis/apps/v1/', { root: '/apis', group: 'apps', version: 'v1' }],
  ])('reads %s as discovery', (path, expected) => {
    expect(parsePath(path)).toMatchObject({ kind: 'discovery', ...expected })
  })

  it.each(['/', '//', '/metrics', '/API/v1/pods', '//api/v1/pods', '/api//v1/pods', '/api/v1/pods//', '/api/v1/%zz', '/api/v1/%ff', 'api/v1', '*', ''])('takes %j for nothing of its own', (path) => {
    expect(parsePath(path)).toEqual({ kind: 'other' })
  })
})
