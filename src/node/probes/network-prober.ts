import { request as httpRequest } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp } from 'node:net'
import type { Container, GRPCAction, HTTPGetAction } from '../../api/generated/types.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Handler, ProbeOutcome, Prober, Target } from './prober.ts'

const success = (output = ''): ProbeOutcome => ({ isSuccess: true, output })
const failure = (output: string): ProbeOutcome => ({ isSuccess: false, output })
const errorText = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** The maximum length of a probe's output in an event. */
const longestOutput = 10 * 1024

/** Probes containers: exec probes through the runtime, all others over the network at the pod's address. */
export function networkProber(runtime: Runtime): Prober {
  const run = (handler: Handler, target: Target, timeoutSeconds: number): Promise<ProbeOutcome> => {
    if (handler.exec) return runCommand(runtime, target.container.id, handler.exec.command ?? [], timeoutSeconds)
    if (handler.httpGet) return get(handler.httpGet, target, timeoutSeconds)
    if (handler.tcpSocket)
      return dial(handler.tcpSocket.host || target.podIp, portOf(handler.tcpSocket.port, target.spec), timeoutSeconds)
    if (handler.grpc) return askHealth(handler.grpc, target, timeoutSeconds)
    return Promise.resolve(success())
  }
  return { run, probe: (_kind, handler, target, timeoutSeconds) => run(handler, target, timeoutSeconds) }
}

function portOf(port: string | number, { ports }: Container): number {
  if (typeof port === 'number') return port
  return ports?.find((p) => p.name === port)?.containerPort ?? Number(port)
}

async function runCommand(
  runtime: Runtime,
  id: string,
  command: readonly string[],
  timeoutSeconds: number,
): Promise<ProbeOutcome> {
  try {
    const { stdout, stderr, exitCode } = await runtime.execSync(id, command, timeoutSeconds)
    const output = Buffer.concat([stdout, stderr]).toString('utf8').slice(0, longestOutput)
    return exitCode === 0 ? success(output) : failure(output)
  } catch (e) {
    return failure(errorText(e))
  }
}

function get(action: HTTPGetAction, { podIp, spec }: Target, timeoutSeconds: number): Promise<ProbeOutcome> {
  const isSecure = action.scheme === 'HTTPS'
  const host = action.host || podIp
  const port = portOf(action.port, spec)
  const url = `${isSecure ? 'https' : 'http'}://${host}:${port}${action.path ?? '/'}`
  const headers = {
    'user-agent': 'kube-probe/1.36',
    accept: '*/*',
    connection: 'close',
    ...Object.fromEntries((action.httpHeaders ?? []).map((h) => [h.name, h.value])),
  }
  return new Promise((resolve) => {
    const options = {
      host,
      port,
      path: action.path ?? '/',
      headers,
      agent: false as const,
      timeout: timeoutSeconds * 1000,
      rejectUnauthorized: false,
    }
    const request = (isSecure ? httpsRequest : httpRequest)(options, (answer) => {
      answer.resume()
      const code = answer.statusCode ?? 0
      resolve(code >= 200 && code < 400 ? success() : failure(`HTTP probe failed with statuscode: ${code}`))
    })
    request.on('timeout', () =>
      request.destroy(new Error('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')),
    )
    request.on('error', (e) => resolve(failure(`Get "${url}": ${e.message}`)))
    request.end()
  })
}

function dial(host: string, port: number, timeoutSeconds: number): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port, timeout: timeoutSeconds * 1000 })
    const end = (outcome: ProbeOutcome) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.on('connect', () => end(success()))
    socket.on('timeout', () => end(failure(`dial tcp ${host}:${port}: i/o timeout`)))
    socket.on('error', (e) => end(failure(`dial tcp ${host}:${port}: ${e.message}`)))
  })
}

/** Calls the standard gRPC health service over HTTP/2 without TLS. */
function askHealth({ port, service }: GRPCAction, { podIp }: Target, timeoutSeconds: number): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://${podIp}:${port}`)
    const end = (outcome: ProbeOutcome) => {
      session.destroy()
      resolve(outcome)
    }
    session.on('error', (e) => end(failure(`failed to connect service "${podIp}:${port}": ${e.message}`)))
    session.setTimeout(timeoutSeconds * 1000, () =>
      end(
        failure(
          `timeout: failed to connect service "${podIp}:${port}" within ${timeoutSeconds}s: context deadline exceeded`,
        ),
      ),
    )
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', (e) => end(failure(`error: health rpc failed: ${e.message}`)))
    stream.on('end', () =>
      end(
        isServing(Buffer.concat(chunks))
          ? success('service healthy')
          : failure('service unhealthy (responded with "NOT_SERVING")'),
      ),
    )
    stream.end(grpcHealthFrame(service ?? ''))
  })
}

/** A HealthCheckRequest: the service name as field 1, after the 5-byte gRPC prefix. */
function grpcHealthFrame(service: string): Buffer {
  const name = Buffer.from(service, 'utf8')
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name])
  const frame = Buffer.alloc(5)
  frame.writeUInt32BE(message.length, 1)
  return Buffer.concat([frame, message])
}

/** True if field 1 of a HealthCheckResponse is 1, SERVING. */
const isServing = (answer: Buffer): boolean => answer.length >= 7 && answer[5] === 0x08 && answer[6] === 1
