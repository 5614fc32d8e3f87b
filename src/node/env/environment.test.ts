import { describe, expect, it } from 'vitest'
import type { Container, EnvVar, Service } from '../../api/generated/types.ts'
import { samplePod } from '../sample-pod.ts'
import { type EnvSources, environmentOf } from './environment.ts'
import { expand } from './expand.ts'
import { resourceValue } from './field-values.ts'
import { linkedServices, serviceVariables, withApiServerAt } from './service-links.ts'

const service = (name: string, namespace: string): Service =>
  ({ metadata: { name, namespace }, spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] } }) as Service

const sources: EnvSources = {
  configMap: async (name) => (name === 'settings' ? { metadata: {}, data: { COLOUR: 'red', SIZE: '3' } } : undefined),
  secret: async (name) => (name === 'keys' ? { metadata: {}, data: { token: Buffer.from('s3cret').toString('base64') } } : undefined),
  services: [service('kubernetes', 'default'), service('db', 'shop'), service('other', 'elsewhere')],
}
const place = { podIps: ['10.0.0.2', 'fd00::2'], hostIps: ['192.168.0.1'], allocatable: { cpu: '4', memory: '8Gi' } }
const pod = samplePod({ nodeName: 'n1' }, { namespace: 'shop', labels: { app: 'web' } })

const environment = async (container: Partial<Container>, spec = pod) => Object.fromEntries(await environmentOf(spec, { name: 'app', resources: {}, ...container }, sources, place))
const value = async (variable: EnvVar) => (await environment({ env: [variable] }))[variable.name]

describe('environmentOf()', () => {
  it.each<[string, EnvVar, string | undefined]>([
    ['a plain value', { name: 'A', value: 'x' }, 'x'],
    ['a key of a config map', { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'COLOUR' } } }, 'red'],
    ['a key of a secret', { name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }, 's3cret'],
    ['nothing where an optional one is missing', { name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'x', optional: true } } }, undefined],
    ['a field of the pod', { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }, 'web'],
    ['a label', { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }, 'web'],
    ['all addresses', { name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } }, '10.0.0.2,fd00::2'],
    ['a service that is in the namespace', { name: 'A', value: '$(DB_SERVICE_HOST):$(DB_SERVICE_PORT_HTTPS)' }, '10.96.0.1:443'],
    ['what it refers to is not there', { name: 'A', value: '$(NOTHING) $$(A)' }, '$(NOTHING) $(A)'],
  ])('knows %s', async (_, variable, expected) => {
    expect(await value(variable)).toBe(expected)
  })

  it('takes whole sets, with a prefix, and lets single variables win', async () => {
    const found = await environment({ envFrom: [{ prefix: 'P_', configMapRef: { name: 'settings' } }, { configMapRef: { name: 'settings' } }], env: [{ name: 'SIZE', value: '4' }] })
    expect(found).toMatchObject({ P_COLOUR: 'red', P_SIZE: '3', COLOUR: 'red', SIZE: '4' })
  })

  it('tells of the API always, and of other services where the pod wants links', async () => {
    expect(Object.keys(await environment({}))).toEqual(expect.arrayContaining(['KUBERNETES_SERVICE_HOST', 'DB_PORT_443_TCP_ADDR']))
    const without = await environment({}, { ...pod, spec: { ...pod.spec, enableServiceLinks: false } })
    expect(Object.keys(without).filter((k) => k.startsWith('DB_'))).toEqual([])
    expect(without['KUBERNETES_PORT']).toBe('tcp://10.96.0.1:443')
  })

  it.each<[EnvVar, string]>([
    [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'x' } } }, 'configmap "none" not found'],
    [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'x' } } }, 'secret "none" not found'],
    [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'x' } } }, "couldn't find key x in ConfigMap shop/settings"],
  ])('says what is missing: %j', async (variable, message) => {
    await expect(value(variable)).rejects.toThrow(message)
  })
})

describe('resourceValue()', () => {
  const container: Container = { name: 'app', resources: { requests: { cpu: '250m', memory: '100Mi' }, limits: { memory: '150Mi', 'ephemeral-storage': '1Ei' } } }

  it.each([
    ['requests.cpu', undefined, '1'],
    ['requests.cpu', '1m', '250'],
    ['limits.cpu', undefined, '4'],
    ['limits.memory', '1Mi', '150'],
    ['requests.memory', '1Gi', '1'],
    ['limits.ephemeral-storage', undefined, '1152921504606846976'],
    ['limits.ephemeral-storage', '1Ki', '1125899906842624'],
  ])('%s in units of %s', (resource, divisor, expected) => {
    expect(resourceValue({ resource, divisor: divisor ?? '0' }, container, place)).toBe(expected)
  })
})

it.each([['$(A)-$(B)', '1-$(B)'], ['$$(A)', '$(A)'], ['$A', '$A'], ['$(A', '$(A']])('expand() of %j', (text, expected) => {
  expect(expand(text, new Map([['A', '1']]))).toBe(expected)
})

describe('withApiServerAt()', () => {
  const api = { metadata: { namespace: 'default', name: 'kubernetes' }, spec: { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443 }] } } as Service
  const other = { metadata: { namespace: 'shop', name: 'kubernetes' }, spec: { clusterIP: '10.0.0.7', ports: [{ port: 80 }] } } as Service

  it.each([
    ['https://127.0.0.1:6443', '127.0.0.1', '6443'],
    ['https://api.example.com', 'api.example.com', '443'],
    ['https://[::1]:6443/', '::1', '6443'],
  ])('tells that the API is at %s', (url, host, port) => {
    const variables = serviceVariables(linkedServices(withApiServerAt([api, other], new URL(url)), 'default', true))
    expect([variables.get('KUBERNETES_SERVICE_HOST'), variables.get('KUBERNETES_SERVICE_PORT'), variables.get('KUBERNETES_SERVICE_PORT_HTTPS')]).toEqual([host, port, port])
  })

  it('leaves all others where they are', () => {
    expect(withApiServerAt([other], new URL('https://127.0.0.1:6443'))).toEqual([other])
  })
})
