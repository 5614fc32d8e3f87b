import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { impersonated } from '../../src/server/auth/impersonate.ts'
import { kindOf } from '../../src/server/requests/kind.ts'
import { parsePath, parseQuery } from '../../src/server/requests/path.ts'
import { resolve } from '../../src/server/requests/resolve.ts'
import { ServerTrial } from '../../src/server/server-trial.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const hostile = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf']

let trial: ServerTrial

beforeEach(async () => {
  trial = await ServerTrial.open()
})

/** No request may have changed what every object inherits. */
afterEach(() => {
  for (const name of ['polluted', 'x']) expect(({} as Record<string, unknown>)[name]).toBeUndefined()
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted')
})

/** A body as text: a literal in a program could not have such a key. */
const send = (method: string, url: string, text: string, contentType = 'application/json') => {
  const [path = '', query = ''] = url.split('?')
  const parsed = parsePath(path)
  if (parsed.kind !== 'resource') throw new Error('no resource')
  const body = { bytes: Buffer.from(text), contentType }
  return trial.server.requests.run({
    what: resolve(method, parsed, parseQuery(query), trial.parts.registry),
    user: { name: 'tester', groups: [] }, warnings: [], signal: () => new AbortController().signal, readBody: () => body,
  }).then((result) => (result?.kind === 'stored' ? result.stored.object : undefined), (e: Error) => e)
}

describe('names that every object of JavaScript inherits are names like any other', () => {
  test.each(hostile)('%s as a label, an annotation and a key of data', async (name) => {
    const quoted = JSON.stringify(name)
    const at = name === '__proto__' ? '"a":"b"' : `${quoted}:"v"`
    const made = await send('POST', configMaps, `{"metadata":{"name":"a","annotations":{${at}}},"data":{${quoted}:"v"}}`)
    const { data } = made as KubeObject & { data: Record<string, string> }
    expect(Object.entries(data)).toEqual([[name, 'v']])
  })

  test.each(hostile)('%s in every type of patch', async (name) => {
    await send('POST', configMaps, '{"metadata":{"name":"a"},"data":{"k":"v"}}')
    const quoted = JSON.stringify(name)
    const patches: [type: string, text: string][] = [
      ['application/merge-patch+json', `{"data":{${quoted}:"m"},${quoted}:{"polluted":1}}`],
      ['application/strategic-merge-patch+json', `{"data":{${quoted}:"s"},${quoted}:{"polluted":1}}`],
      ['application/json-patch+json', `[{"op":"add","path":"/data/${name}","value":"j"}]`],
    ]
    for (const [type, text] of patches) {
      const patched = (await send('PATCH', `${configMaps}/a`, text, type)) as KubeObject & { data: Record<string, string> }
      expect(patched, `${type} ${String(patched)}`).not.toBeInstanceOf(Error)
      expect(Object.getOwnPropertyDescriptor(patched.data, name)?.value, type).toBe({ m: 'm', s: 's', j: 'j' }[type[12] === 'm' ? 'm' : type[12] === 's' ? 's' : 'j'])
    }
  })

  test.each(hostile)('a JSON patch through %s finds nothing there', async (name) => {
    await send('POST', configMaps, '{"metadata":{"name":"a"},"data":{"k":"v"}}')
    for (const path of [`/data/${name}/polluted`, `/${name}/polluted`, `/metadata/${name}/polluted`]) {
      const refused = await send('PATCH', `${configMaps}/a`, JSON.stringify([{ op: 'add', path, value: 'x' }]), 'application/json-patch+json')
      expect(refused).toBeInstanceOf(Error)
    }
  })

  test.each(hostile)('%s in YAML', async (name) => {
    const made = await send('POST', configMaps, `metadata: {name: a}\ndata:\n  ${name}: v\n`, 'application/yaml')
    expect(Object.entries((made as KubeObject & { data: Record<string, string> }).data)).toEqual([[name, 'v']])
  })

  test.each(hostile)('%s in a query, a path and a header', async (name) => {
    expect(await send('GET', `${configMaps}?labelSelector=${name}=polluted&${name}[polluted]=1&fieldSelector=metadata.name=${name}`, '')).not.toBeInstanceOf(TypeError)
    expect(trial.parts.registry.find('v1', name)).toBeUndefined()
    expect(trial.parts.registry.find(name, 'pods')).toBeUndefined()
    const { user } = impersonated({ name: 'a', groups: [] }, (header) => (header === 'impersonate-user' ? 'b' : 'v'), [`impersonate-extra-${name}`])
    expect(Object.entries(user.extra!)).toEqual([[name, ['v']]])
  })
})

describe('a header that cannot be unescaped is taken as it stands', () => {
  test.each(['%', '%zz', '%e0%a4%a'])('%s', (name) => {
    const { user } = impersonated({ name: 'a', groups: [] }, (header) => (header === 'impersonate-user' ? 'b' : 'v'), [`impersonate-extra-${name}`])
    expect(user.extra).toEqual({ [name]: ['v'] })
  })
})

describe('nobody makes series of metrics at will', () => {
  test.each([
    ['a method', 'BREW', '/api/v1/pods'],
    ['a group', 'GET', '/apis/made.up/v1/things'],
    ['a version', 'GET', '/api/v99/pods'],
    ['a resource', 'GET', '/api/v1/nonsense'],
    ['a subresource', 'GET', '/api/v1/namespaces/default/pods/a/nonsense'],
  ])('%s that is not served names none', (_, method, path) => {
    const parsed = parsePath(path)
    const what = parsed.kind === 'resource' ? resolve(method, parsed, new URLSearchParams(), trial.parts.registry) : undefined
    const said = Object.values(kindOf(method, what)).join(' ')
    expect(said).not.toMatch(/BREW|made\.up|v99|nonsense/)
  })
})

describe('paths stay what they say', () => {
  test.each([
    ['dots', '/api/v1/namespaces/default/configmaps/../secrets'],
    ['dots in escapes', '/api/v1/namespaces/default/configmaps/%2e%2e/secrets'],
    ['a slash in escapes', '/api/v1/namespaces/default%2Fconfigmaps/a'],
    ['NUL', '/api/v1/namespaces/default/configmaps/a%00b'],
    ['a backslash', '/api/v1/namespaces/default/configmaps/..%5csecrets'],
    ['two slashes', '/api/v1//namespaces/default/configmaps/a'],
    ['half an escape', '/api/v1/namespaces/default/configmaps/%'],
  ])('%s', async (_, path) => {
    await send('POST', '/api/v1/namespaces/default/secrets', '{"metadata":{"name":"secrets"}}')
    const parsed = parsePath(path)
    if (parsed.kind !== 'resource') return
    expect([parsed.plural, parsed.namespace]).not.toEqual(['secrets', 'default'])
    const got = await send('GET', path, '').catch((e: Error) => e)
    expect(got).not.toMatchObject({ kind: 'Secret' })
  })
})
