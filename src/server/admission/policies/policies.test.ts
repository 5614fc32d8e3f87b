import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { MetricsRegistry } from '../../../base/metrics.ts'
import type { Authorizer } from '../../auth/authorize.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import type { AdmissionPlugin, PluginServer } from '../admission.ts'
import { type SampleRequest, sampleRequest } from '../dynamic/sample-request.ts'
import { mutatingAdmissionPolicy } from './mutating-plugin.ts'
import { validatingAdmissionPolicy } from './validating-plugin.ts'

const matchConstraints = { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }] }
const policy = (spec: object) => ({ metadata: { name: 'p', uid: 'u', generation: 1 }, spec: { matchConstraints, ...spec } })
const binding = (spec: object = {}) => ({ metadata: { name: 'b' }, spec: { policyName: 'p', ...spec } })

/** A plugin of a server that has these objects, and how often it has listed them. */
function started(plugin: AdmissionPlugin, stored: Record<string, KubeObject[]>) {
  const listed: string[] = []
  const changed: (() => void)[] = []
  const objects = {
    list: (_group: string, plural: string) => (listed.push(plural), [...(stored[plural] ?? [])]),
    follow: (_group: string, _plural: string, tell: () => void) => changed.push(tell),
  } as unknown as ServerObjects
  const made = plugin.forServer!({ objects, metrics: new MetricsRegistry() } as PluginServer)
  return { plugin: made, listed, change: () => changed.forEach((tell) => tell()) }
}

const mayGet = "authorizer.path('/a').check('get').allowed()"
const mayList = "authorizer.path('/b').check('list').allowed()"
const asking = (asked: string[]): Authorizer => ({
  authorize: async (_user, { verb }) => (asked.push(verb), { allowed: verb === 'get' }),
})

describe('a policy that asks an authorizer in another process', () => {
  it('is judged when all answers are there, and warns once', async () => {
    const stored = {
      validatingadmissionpolicies: [policy({ validations: [{ expression: mayGet }, { expression: mayList, message: 'may not list' }] })],
      validatingadmissionpolicybindings: [binding({ validationActions: ['Warn'] })],
    }
    const { plugin } = started(validatingAdmissionPolicy, stored)
    const asked: string[] = []
    const request = sampleRequest({ authorizer: asking(asked) })
    const waiting = plugin.validate!(request)
    expect(waiting).toBeInstanceOf(Promise)
    expect(request.warnings).toEqual([])
    await waiting
    expect(asked).toEqual(['get', 'list'])
    expect(request.warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': may not list"])
  })

  it('changes the object once', async () => {
    const mutation = (name: string, check: string) => ({
      patchType: 'JSONPatch', jsonPatch: { expression: `[JSONPatch{op: "add", path: "/metadata/annotations/${name}", value: string(${check}) + string(size(object.metadata.annotations))}]` },
    })
    const stored = {
      mutatingadmissionpolicies: [policy({ reinvocationPolicy: 'Never', mutations: [mutation('a', mayGet), mutation('b', mayList)] })],
      mutatingadmissionpolicybindings: [binding()],
    }
    const { plugin } = started(mutatingAdmissionPolicy, stored)
    const sent: SampleRequest = { authorizer: asking([]), object: { metadata: { name: 'a', annotations: { x: 'y' } } } }
    const request = sampleRequest(sent)
    const before = request.object
    await plugin.admit!(request)
    expect(request.object!.metadata.annotations).toEqual({ x: 'y', a: 'true1', b: 'false2' })
    expect(before!.metadata.annotations).toEqual({ x: 'y' })
    expect(request.reinvocation!.isWanted).toBe(true)
  })
})

describe('the configuration', () => {
  it('is read when the first request comes, and again only after a change', () => {
    const stored = { validatingadmissionpolicies: [policy({ validations: [{ expression: 'false' }] })], validatingadmissionpolicybindings: [] as KubeObject[] }
    const { plugin, listed, change } = started(validatingAdmissionPolicy, stored)
    for (let i = 0; i < 3; i++) expect(plugin.validate!(sampleRequest())).toBeUndefined()
    expect(listed).toHaveLength(2)
    stored.validatingadmissionpolicybindings.push(binding({ validationActions: ['Deny'] }))
    change()
    expect(() => plugin.validate!(sampleRequest())).toThrow("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false")
    expect(listed).toHaveLength(4)
  })
})
