import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { sampleContainer, samplePod } from '../sample-pod.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { networkProber } from './network-prober.ts'
import type { Handler } from './prober.ts'

let server: Server | undefined
afterEach(() => void server?.close())

const listening = (made: Server): Promise<number> => {
  server = made
  return new Promise((resolve) => made.listen(0, '127.0.0.1', () => resolve((made.address() as AddressInfo).port)))
}
const runtime = { execSync: async (_id: string, [code]: readonly string[]) => ({ stdout: Buffer.from('said'), stderr: Buffer.alloc(0), exitCode: Number(code) }) } as unknown as Runtime
const pod = samplePod()
const probe = (handler: Handler, ports: { name: string; containerPort: number }[] = []) =>
  networkProber(runtime).probe('readiness', handler, { pod, spec: { ...pod.spec.containers[0]!, ports }, container: sampleContainer('app'), podIp: '127.0.0.1' }, 2)

describe('networkProber()', () => {
  it('asks over HTTP, with headers, at a port by name', async () => {
    const port = await listening(createServer((request, answer) => {
      answer.statusCode = request.url === '/ok' && request.headers['x-a'] === 'b' ? 200 : 503
      answer.end()
    }))
    const ports = [{ name: 'web', containerPort: port }]
    expect(await probe({ httpGet: { path: '/ok', port: 'web', httpHeaders: [{ name: 'X-A', value: 'b' }] } }, ports)).toEqual({ isSuccess: true, output: '' })
    expect(await probe({ httpGet: { path: '/', port } })).toEqual({ isSuccess: false, output: 'HTTP probe failed with statuscode: 503' })
  })

  it('dials', async () => {
    const port = await listening(createServer())
    expect((await probe({ tcpSocket: { port } })).isSuccess).toBe(true)
    server!.close()
    await new Promise((resolve) => server!.once('close', resolve))
    expect((await probe({ tcpSocket: { port } })).isSuccess).toBe(false)
  })

  it('runs a command', async () => {
    expect(await probe({ exec: { command: ['0'] } })).toEqual({ isSuccess: true, output: 'said' })
    expect(await probe({ exec: { command: ['1'] } })).toEqual({ isSuccess: false, output: 'said' })
  })

  it.each([[1, true], [2, false]])('asks the gRPC health service, which answers %d', async (status, isSuccess) => {
    const made = createHttp2Server()
    made.on('stream', (stream, headers) => {
      expect(headers[':path']).toBe('/grpc.health.v1.Health/Check')
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, status]))
    })
    const port = await listening(made as unknown as Server)
    expect((await probe({ grpc: { port, service: 'shop' } })).isSuccess).toBe(isSuccess)
  })
})
