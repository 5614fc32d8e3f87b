import { beforeAll, describe, expect, it } from 'vitest'
import { ServerTrial } from '../server-trial.ts'
import { hasSubresource } from '../write/rules.ts'
import { verbOf } from './resolve.ts'

let trial: ServerTrial

beforeAll(async () => {
  trial = await ServerTrial.open()
})

const find = (apiVersion: string, plural: string) => trial.parts.registry.find(apiVersion, plural)!
const code = async (method: string, url: string, body?: unknown) => {
  try {
    const result = await trial.run(method, url, body)
    return result && 'code' in result ? result.code : result?.kind
  } catch (e) {
    return (e as { code: number }).code
  }
}

describe('verbOf()', () => {
  it.each([
    ['GET', '', '', 'list'],
    ['GET', '', 'watch', 'watch'],
    ['GET', '', 'watch=1', 'watch'],
    ['GET', '', 'watch=false', 'list'],
    ['GET', '', 'watch=0', 'list'],
    ['GET', 'a', '', 'get'],
    ['GET', 'a', 'watch=1', 'get'],
    ['POST', '', '', 'create'],
    ['POST', 'a', '', undefined],
    ['PUT', 'a', '', 'update'],
    ['PUT', '', '', undefined],
    ['PATCH', 'a', '', 'patch'],
    ['DELETE', 'a', '', 'delete'],
    ['DELETE', '', '', 'deletecollection'],
    ['constructor', 'a', '', undefined],
    ['toString', '', '', undefined],
  ])('%s of %j with %j', (method, name, query, expected) => {
    expect(verbOf(method, name, new URLSearchParams(query))).toBe(expected)
  })
})

describe('resolve()', () => {
  const ns = '/api/v1/namespaces/default'

  it.each([
    ['a list across namespaces', 'GET', '/api/v1/pods', 'list'],
    ['a watch across namespaces', 'GET', '/api/v1/pods?watch=1', 'watch'],
    ['no creation across namespaces', 'POST', '/api/v1/pods', 405],
    ['no deletion across namespaces', 'DELETE', '/api/v1/pods', 405],
    ['no cluster-wide kind in a namespace', 'GET', `${ns}/nodes`, 404],
    ['no object by its name alone', 'GET', '/api/v1/pods/a', 404],
    ['what a kind cannot do', 'DELETE', '/api/v1/namespaces', 405],
    ['a status, which is nobody\'s here', 'GET', `${ns}/pods/a/status`, 404],
    ['a subresource that there is not', 'GET', `${ns}/pods/a/bogus`, 404],
    ['a subresource of JavaScript', 'GET', `${ns}/pods/a/constructor`, 404],
    ['no deletion of a status', 'DELETE', `${ns}/pods/a/status`, 405],
    ['a scale of what has none', 'GET', `${ns}/pods/a/scale`, 404],
    ['no creation of a scale', 'POST', '/apis/apps/v1/namespaces/default/deployments/a/scale', 405],
    ['no reading of an eviction', 'GET', `${ns}/pods/a/eviction`, 405],
  ])('%s', async (_what, method, url, expected) => {
    expect(await code(method, url)).toBe(expected)
  })
})

describe('hasSubresource()', () => {
  it.each([
    ['v1', 'pods', 'status', true],
    ['v1', 'pods', 'log', true],
    ['v1', 'pods', 'resize', true],
    ['v1', 'pods', 'scale', false],
    ['apps/v1', 'deployments', 'scale', true],
    ['v1', 'configmaps', 'status', false],
    ['v1', 'pods', 'constructor', false],
    ['v1', 'pods', '', false],
  ])('of %s %s: %j is %s', (apiVersion, plural, name, expected) => {
    expect(hasSubresource(find(apiVersion, plural), name)).toBe(expected)
  })
})
