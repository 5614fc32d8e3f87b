import { describe, expect, it } from 'vitest'
import { type TestServer, services } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
const createMany = (count: number, spec: object = {}, prefix = 's') =>
  Promise.all(Array.from({ length: count }, (_, i) => server.create(services, service(`${prefix}-${i}`, spec))))

describe('the addresses of services', () => {
  it('are all different, of a hundred that are made at once', async () => {
    const replies = await createMany(100)
    expect(new Set(replies.map((r) => r.code))).toEqual(new Set([201]))
    const ips = replies.map((r) => r.body.spec.clusterIP as string)
    expect(new Set(ips).size).toBe(100)
    for (const ip of ips) expect(ip).toMatch(/^10\.0\.0\.\d+$/)
    expect(ips).not.toContain('10.0.0.1')
  })

  it('run out: then a service is refused, and one that needs none is not', async () => {
    // The server's own service uses one of 254 addresses.
    const replies = await createMany(260)
    const codes = replies.map((r) => r.code)
    expect([codes.filter((c) => c === 201).length, codes.filter((c) => c === 500).length]).toEqual([253, 7])
    expect(replies.find((r) => r.code === 500)!.body).toMatchObject({ reason: 'InternalError', message: 'Internal error occurred: failed to allocate a serviceIP: range is full' })
    expect((await server.create(services, service('headless', { clusterIP: 'None' }))).code).toBe(201)

    const { body } = await server.get(`${services}/s-0`)
    await server.delete(`${services}/s-0`)
    const next = await server.create(services, service('next'))
    expect([next.code, next.body.spec.clusterIP]).toEqual([201, body.spec.clusterIP])
  })

  it('go to one of those who ask for the same', async () => {
    const replies = await createMany(10, { clusterIP: '10.0.0.77' })
    expect(replies.map((r) => r.code).sort()).toEqual([201, ...Array<number>(9).fill(422)])
    expect(replies.find((r) => r.code === 422)!.body.message).toContain('provided IP is already allocated')
  })

  it('are given back where the service is refused', async () => {
    for (let i = 0; i < 300; i++) expect((await server.create(services, service('A B'))).code).toBe(422)
    expect((await server.create(services, service('a'))).code).toBe(201)
  })

  it('are not used up by dry runs', async () => {
    const dry = await Promise.all(Array.from({ length: 300 }, (_, i) => server.create(`${services}?dryRun=All`, service(`s-${i}`))))
    expect(new Set(dry.map((r) => r.code))).toEqual(new Set([201]))
    expect((await server.create(services, service('a'))).code).toBe(201)
  })
})

describe('node ports', () => {
  it('are all different, of a hundred services with two each that are made at once', async () => {
    const replies = await createMany(100, { type: 'NodePort', ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] })
    const ports = replies.flatMap((r) => r.body.spec.ports.map((p: { nodePort: number }) => p.nodePort) as number[])
    expect(new Set(ports).size).toBe(200)
    expect(Math.min(...ports)).toBeGreaterThanOrEqual(30000)
    expect(Math.max(...ports)).toBeLessThanOrEqual(32767)
  })
})
