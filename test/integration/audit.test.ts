import { describe, expect, it } from 'vitest'
import { InProcessTransport } from '../../src/cluster/index.ts'
import type { VirtualClock } from '../../src/base/virtual-clock.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { type AuditBackend, type AuditMode, AuditSink, Auditor, readPolicy } from '../../src/server/index.ts'
import { TestServer, configMap, configMaps, pod, pods, settle } from './server.ts'

const batch = { bufferSize: 1000, maxBatchSize: 1, maxBatchWaitMs: 0, throttle: undefined }

interface Recorded {
  server: TestServer
  /** The events since the last look. */
  take(): Promise<any[]>
  /** Makes the backend fail. */
  failure: { error: Error | undefined }
}

/** A server that records its requests by these rules. */
async function recording(rules: string, mode: AuditMode = 'blocking'): Promise<Recorded> {
  const texts: string[] = []
  const failure: Recorded['failure'] = { error: undefined }
  const backend: AuditBackend = {
    name: 'log',
    write: async (more) => {
      if (failure.error) throw failure.error
      texts.push(...more)
    },
    close: async () => {},
  }
  const policy = readPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`)
  const audit = (clock: VirtualClock) =>
    new Auditor({
      policy,
      clock,
      logger: silentLogger,
      sinks: (onError) => [new AuditSink({ backend, mode, batch, truncate: undefined, clock, onError })],
    })
  const server = await TestServer.start({ audit, startMs: Date.UTC(2026, 0, 1) })
  const take = async () => {
    await settle()
    return texts.splice(0).map((text) => JSON.parse(text))
  }
  await take()
  return { server, take, failure }
}

const everything = 'rules: [{level: Metadata}]'
const tester = { username: 'tester', groups: ['system:masters', 'system:authenticated'] }
const allowed = {
  'authorization.k8s.io/decision': 'allow',
  'authorization.k8s.io/reason': expect.any(String) as string,
}

describe('a create', () => {
  it('has an event when it comes and one when it is answered', async () => {
    const { server, take } = await recording(everything)
    await server.send({
      method: 'POST',
      url: `${configMaps}?fieldManager=me`,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'kubectl',
        'audit-id': 'id-1',
        'x-forwarded-for': '10.1.1.1',
      },
      body: Buffer.from(JSON.stringify(configMap('a'))),
    })
    const common = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'id-1',
      verb: 'create',
      user: tester,
      requestURI: `${configMaps}?fieldManager=me`,
      sourceIPs: ['10.1.1.1'],
      userAgent: 'kubectl',
      requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
      stageTimestamp: '2026-01-01T00:00:00.000000Z',
    }
    const objectRef = { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' }
    expect(await take()).toEqual([
      { ...common, stage: 'RequestReceived', objectRef },
      {
        ...common,
        stage: 'ResponseComplete',
        objectRef: { ...objectRef, name: 'a' },
        responseStatus: { metadata: {}, code: 201 },
        annotations: allowed,
      },
    ])
  })

  it('that is refused says why, with the name that was sent', async () => {
    const { server, take } = await recording(`omitStages: [RequestReceived]\n${everything}`)
    await server.create(configMaps, configMap('a'))
    await server.create(configMaps, configMap('a'))
    const [, refused] = await take()
    expect(refused).toMatchObject({
      objectRef: { name: 'a' },
      responseStatus: {
        metadata: {},
        status: 'Failure',
        reason: 'AlreadyExists',
        message: 'configmaps "a" already exists',
        code: 409,
        details: { name: 'a', kind: 'configmaps' },
      },
    })
  })
})

describe('levels', () => {
  const rules = (level: string) => `omitStages: [RequestReceived]\nrules: [{level: ${level}}]`

  it.each([
    ['None', undefined],
    ['Metadata', { request: false, response: false }],
    ['Request', { request: true, response: false }],
    ['RequestResponse', { request: true, response: true }],
  ])('%s', async (level, has) => {
    const { server, take } = await recording(rules(level))
    await server.create(configMaps, configMap('a', { k: 'v' }))
    const events = await take()
    expect(events).toHaveLength(has ? 1 : 0)
    if (!has) return
    expect(events[0].requestObject).toEqual(has.request ? configMap('a', { k: 'v' }) : undefined)
    if (has.response)
      expect(events[0].responseObject).toMatchObject({
        kind: 'ConfigMap',
        metadata: { name: 'a', resourceVersion: expect.any(String) as string },
        data: { k: 'v' },
      })
    else expect(events[0].responseObject).toBeUndefined()
  })

  it('record patches as they were sent, options of deletes, and answers that are a Status', async () => {
    const { server, take } = await recording(rules('RequestResponse'))
    await server.create(configMaps, configMap('a'))
    await server.patch(`${configMaps}/a`, { data: { x: 'y' } })
    await server.delete(`${configMaps}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' })
    await server.get(`${configMaps}/a`)
    const [, patched, deleted, missing] = await take()
    expect(patched).toMatchObject({
      verb: 'patch',
      objectRef: { name: 'a' },
      requestObject: { data: { x: 'y' } },
      responseObject: { data: { x: 'y' } },
    })
    expect(deleted).toMatchObject({
      verb: 'delete',
      requestObject: { propagationPolicy: 'Background' },
      responseStatus: { status: 'Success', code: 200 },
    })
    expect(missing).toMatchObject({
      verb: 'get',
      responseStatus: { reason: 'NotFound', code: 404 },
      responseObject: { kind: 'Status', code: 404 },
    })
  })

  it('record lists and tables in one line, whatever form was sent', async () => {
    const { server, take } = await recording(rules('RequestResponse'))
    await server.create(configMaps, configMap('a'))
    await server.get(`${configMaps}?pretty=true`)
    await server.get(configMaps, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
    const [, listed, table] = await take()
    expect(listed).toMatchObject({
      verb: 'list',
      responseObject: { kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] },
    })
    expect(table.responseObject.kind).toBe('Table')
  })

  it('leave out managed fields where the rule says so', async () => {
    const { server, take } = await recording(
      'omitStages: [RequestReceived]\nomitManagedFields: true\nrules: [{level: Request}]',
    )
    const object = configMap('a')
    await server.create(configMaps, {
      ...object,
      metadata: {
        ...object.metadata,
        managedFields: [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
      },
    })
    const [created] = await take()
    expect(created.requestObject.metadata).toEqual({ name: 'a' })
  })
})

describe('a watch', () => {
  it('has events when it comes, when it starts and when it ends', async () => {
    const { server, take } = await recording(everything)
    const watch = await server.watch(configMaps)
    const stages = async () =>
      (await take()).map(({ stage, verb, responseStatus }) => [stage, verb, responseStatus?.code])
    expect(await stages()).toEqual([
      ['RequestReceived', 'watch', undefined],
      ['ResponseStarted', 'watch', 200],
    ])
    watch.exchange.hangUp()
    expect(await stages()).toEqual([['ResponseComplete', 'watch', 200]])
  })
})

describe('an update', () => {
  it('names uid and version that were sent', async () => {
    const { server, take } = await recording(`omitStages: [RequestReceived]\n${everything}`)
    const { body } = await server.create(configMaps, configMap('a'))
    await server.update(`${configMaps}/a`, { ...body, data: { x: '1' } })
    const [, updated] = await take()
    expect(updated.objectRef).toEqual({
      resource: 'configmaps',
      namespace: 'default',
      name: 'a',
      uid: body.metadata.uid,
      apiVersion: 'v1',
      resourceVersion: body.metadata.resourceVersion,
    })
  })

  it('of a subresource names it, and the group', async () => {
    const { server, take } = await recording(`omitStages: [RequestReceived]\n${everything}`)
    await server.create(pods, pod('p'))
    await server.patch(`${pods}/p/status`, {})
    await server.get('/apis/apps/v1/namespaces/default/deployments/d/scale')
    await server.get('/api/v1/namespaces/default')
    const [, status, scale, namespace] = await take()
    expect(status.objectRef).toMatchObject({ resource: 'pods', name: 'p', subresource: 'status' })
    expect(scale.objectRef).toEqual({
      resource: 'deployments',
      namespace: 'default',
      name: 'd',
      apiGroup: 'apps',
      apiVersion: 'v1',
      subresource: 'scale',
    })
    expect(namespace.objectRef).toEqual({
      resource: 'namespaces',
      namespace: 'default',
      name: 'default',
      apiVersion: 'v1',
    })
  })
})

describe('who asks', () => {
  it('is told beside whom they act as', async () => {
    const { server, take } = await recording(`omitStages: [RequestReceived]\n${everything}`)
    await server.get(configMaps, { 'impersonate-user': 'ann', 'impersonate-group': 'crew' })
    const [event] = await take()
    expect(event).toMatchObject({
      user: tester,
      impersonatedUser: { username: 'ann', groups: expect.arrayContaining(['crew']) as string[] },
    })
  })

  it('without credentials has one event that says so', async () => {
    const { server, take } = await recording(everything)
    await server.send({ method: 'GET', url: configMaps, user: null, headers: { authorization: 'Bearer wrong' } })
    await server.send({ method: 'GET', url: configMaps, user: null })
    const events = await take()
    expect(
      events.map(({ stage, user, responseStatus }) => ({
        stage,
        user,
        code: responseStatus.code,
        message: responseStatus.message,
      })),
    ).toEqual([
      { stage: 'ResponseStarted', user: {}, code: 401, message: 'Authentication failed, attempted: bearer' },
      { stage: 'ResponseStarted', user: {}, code: 401, message: 'Authentication failed, no credentials provided' },
    ])
  })

  it('of a part in the same process is this machine', async () => {
    const { server, take } = await recording(`omitStages: [RequestReceived]\n${everything}`)
    const transport = new InProcessTransport(server.api, {
      name: 'system:kube-scheduler',
      groups: ['system:authenticated'],
    })
    await transport.send({ method: 'POST', path: configMaps, body: configMap('a') })
    await expect(transport.send({ method: 'GET', path: `${configMaps}/b`, query: { x: '1' } })).rejects.toThrow(
      /not found/,
    )
    const end = transport.watch({ method: 'GET', path: configMaps }, { opened() {}, event() {}, closed() {} })
    await settle()
    end()
    const events = await take()
    expect(
      events.map(({ verb, stage, requestURI, responseStatus }) => [verb, stage, requestURI, responseStatus.code]),
    ).toEqual([
      ['create', 'ResponseComplete', configMaps, 201],
      ['get', 'ResponseComplete', `${configMaps}/b?x=1`, 404],
      ['watch', 'ResponseStarted', configMaps, 200],
      ['watch', 'ResponseComplete', configMaps, 200],
    ])
    expect(events[0]).toMatchObject({
      user: { username: 'system:kube-scheduler' },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'coxswain/0.0.0-test',
      objectRef: { name: 'a' },
    })
  })

  it('may change a body while its event is being stored', async () => {
    const { server } = await recording(everything)
    const transport = new InProcessTransport(server.api, { name: 'x', groups: ['system:masters'] })
    const object = configMap('a', { k: 'before' })
    const sent = transport.send<{ data: object }>({ method: 'POST', path: configMaps, body: object })
    object.data.k = 'after'
    expect((await sent).data).toEqual({ k: 'before' })
  })
})

describe('what is no resource', () => {
  it('has its path and method', async () => {
    const { server, take } = await recording(
      `omitStages: [RequestReceived]\nrules: [{level: None, nonResourceURLs: ['/livez*']}, {level: Metadata}]`,
    )
    await server.get('/livez')
    await server.get('/version')
    const [event, ...more] = await take()
    expect(more).toEqual([])
    expect(event).toMatchObject({ verb: 'get', requestURI: '/version', responseStatus: { code: 200 } })
    expect(event.objectRef).toBeUndefined()
  })
})

describe('a backend that fails', () => {
  it.each<[AuditMode, number]>([
    ['batch', 201],
    ['blocking', 201],
    ['blocking-strict', 500],
  ])('in mode %s has a create answered with %i', async (mode, code) => {
    const { server, take, failure } = await recording(everything, mode)
    failure.error = new Error('disk full')
    const { code: answered, body } = await server.create(configMaps, configMap('a'))
    expect(answered).toBe(code)
    if (code === 500) expect(body.message).toMatch(/failed to store audit event/)
    failure.error = undefined
    await take()
    expect((await server.get(`${configMaps}/a`)).code).toBe(code === 500 ? 404 : 200)
    expect(await server.metric('apiserver_audit_requests_rejected_total')).toBe(code === 500 ? 1 : 0)
    expect(await server.metric('apiserver_audit_error_total', { plugin: 'log' })).toBeGreaterThan(0)
    expect(await server.metric('apiserver_audit_event_total')).toBeGreaterThan(0)
  })
})

describe('policies', () => {
  it('add annotations of their own, and of requests that they would refuse', async () => {
    const { server, take } = await recording(everything)
    const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
    const head = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'p' } }
    const spec = {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] },
      validations: [{ expression: 'true' }, { expression: 'false', message: 'a < b' }],
      auditAnnotations: [{ key: 'who', valueExpression: "'made by ' + request.userInfo.username" }, { key: 'nothing', valueExpression: 'null' }],
    }
    await server.create(policies, { ...head, kind: 'ValidatingAdmissionPolicy', spec })
    await server.create(`${policies.slice(0, -'policies'.length)}policybindings`, {
      ...head, kind: 'ValidatingAdmissionPolicyBinding', spec: { policyName: 'p', validationActions: ['Audit'] },
    })
    await take()
    expect((await server.create(configMaps, configMap('a'))).code).toBe(201)
    const { annotations } = (await take()).at(-1)
    expect(annotations).toEqual({
      ...allowed,
      'p/who': 'made by tester',
      'validation.policy.admission.k8s.io/validation_failure':
        '[{"message":"a \\u003c b","policy":"p","binding":"p","expressionIndex":1,"validationActions":["Audit"]}]',
    })
    await server.close()
  })
})
