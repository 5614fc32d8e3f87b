import { afterEach, describe, expect, it } from 'vitest'
import { TestServer, pod, pods } from './server.ts'

let server: TestServer

afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

const containers = [{ name: 'c', image: 'i', securityContext: { privileged: true } }]
const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } }
const jobTemplate = { metadata: { labels: { a: 'b' } }, spec: { containers, restartPolicy: 'Never' } }
const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template: jobTemplate } }
const hostProcess = { securityContext: { windowsOptions: { hostProcess: true } }, hostNetwork: true, os: { name: 'windows' } }

const rows: [string, string, object, string][] = [
  ['a pod', pods, pod('p', { containers }), 'spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy'],
  ['a Deployment', '/apis/apps/v1/namespaces/default/deployments', deployment,
    'spec.template.spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy'],
  ['a Job', '/apis/batch/v1/namespaces/default/jobs', job,
    'spec.template.spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy'],
  ['a pod of host processes', pods, pod('p', hostProcess), 'spec: Forbidden: hostProcess containers are disallowed by cluster policy'],
]

describe('privileged containers', () => {
  it.each(rows)('are taken by default: %s', async (_what, url, object) => {
    server = await TestServer.start()
    expect((await server.create(url, object)).code).toBe(201)
  })

  it.each(rows)('are refused with --allow-privileged=false: %s', async (_what, url, object, message) => {
    server = await TestServer.start({ settings: { allowPrivileged: false } })
    const { code, body } = await server.create(url, object)
    expect(code).toBe(422)
    expect(body.message).toContain(message)
  })

  it('are allowed by an update, too', async () => {
    server = await TestServer.start()
    await server.create(pods, pod('p', { containers }))
    expect((await server.patch(`${pods}/p`, { metadata: { labels: { x: 'y' } } })).code).toBe(200)
    const added = { spec: { ephemeralContainers: [{ name: 'e', image: 'i', securityContext: { privileged: true } }] } }
    expect((await server.patch(`${pods}/p/ephemeralcontainers`, added, 'strategic')).code).toBe(200)
  })

  it('do not hide other errors', async () => {
    server = await TestServer.start()
    const { code, body } = await server.create(pods, pod('p', { containers: [{ ...containers[0], name: 'A' }] }))
    expect([code, body.details.causes.length]).toEqual([422, 1])
  })
})
