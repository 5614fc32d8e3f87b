import { type ServerResponse, createServer } from 'node:http'
import { type ServerHttp2Stream, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { sampleContainer, samplePod } from '../sample-pod.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { networkProber } from './network-prober.ts'
import type { Handler } from './prober.ts'

let server: Server | undefined
let clock: VirtualClock
beforeEach(() => void (clock = new VirtualClock()))
afterEach(() => void server?.close())

const listening = (made: Server): Promise<number> => {
  server = made
  return new Promise((resolve) => made.listen(0, '127.0.0.1', () => resolve((made.address() as AddressInfo).port)))
}
const runtime = { execSync: async (_id: string, [code]: readonly string[]) => ({ stdout: Buffer.from('said'), stderr: Buffer.alloc(0), exitCode: Number(code) }) } as unknown as Runtime
const pod = samplePod()
const probe = (handler: Handler, ports: { name: string; containerPort: number }[] = []) =>
  networkProber(runtime, clock).probe('readiness', handler, { pod, spec: { ...pod.spec.containers[0]!, ports }, container: sampleContainer('app'), podIp: '127.0.0.1' }, 2)

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

  it('ends an HTTP probe when its time is over, even if the server sends something all the time', async () => {
    const made = createServer((_, answer) => {
      answer.write('a')
      answer.on('close', () => made.emit('left'))
    })
    const port = await listening(made)
    const outcome = probe({ httpGet: { path: '/', port } })
    const [, answer] = (await once(made, 'request')) as [unknown, ServerResponse]
    for (let second = 0; second < 2; second++) {
      expect(clock.pending).toBe(1)
      answer.write('b')
      await new Promise(setImmediate)
      clock.advance(1000)
    }
    const left = once(made, 'left')
    expect(await outcome).toEqual({ isSuccess: false, output: expect.stringContaining('context deadline exceeded') })
    await left
  })

  it('ends an HTTP probe that has an answer without an end', async () => {
    const port = await listening(createServer((_, answer) => void answer.write(Buffer.alloc(20_000))))
    expect(await probe({ httpGet: { path: '/', port } })).toEqual({ isSuccess: true, output: '' })
    expect(clock.pending).toBe(0)
  })

  it.each<[string, (stream: ServerHttp2Stream) => void, string]>([
    ['whose stream is closed', (stream) => stream.close(), 'health rpc failed'],
    ['whose connection is closed', (stream) => stream.session!.destroy(), 'health rpc failed'],
    ['with too much of an answer', (stream) => void stream.end(Buffer.alloc(20_000)), 'more than 10240 bytes'],
  ])('ends a gRPC probe %s', async (_, serve, output) => {
    const made = createHttp2Server()
    made.on('stream', (stream) => {
      stream.on('error', () => {})
      if (output.startsWith('more')) stream.respond({ ':status': 200 })
      serve(stream)
    })
    const port = await listening(made as unknown as Server)
    expect(await probe({ grpc: { port, service: '' } })).toEqual({ isSuccess: false, output: expect.stringContaining(output) })
  })

  it('ends a gRPC probe when its time is over, even if the server sends something all the time', async () => {
    const made = createHttp2Server()
    const port = await listening(made as unknown as Server)
    const outcome = probe({ grpc: { port, service: '' } })
    const [stream] = (await once(made, 'stream')) as [ServerHttp2Stream]
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    for (let second = 0; second < 2; second++) {
      expect(clock.pending).toBe(1)
      stream.write('x')
      await new Promise(setImmediate)
      clock.advance(1000)
    }
    expect(await outcome).toEqual({ isSuccess: false, output: expect.stringContaining('within 2s: context deadline exceeded') })
  })
})
