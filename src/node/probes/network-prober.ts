import { request as httpRequest } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp } from 'node:net'
import type { Container, GRPCAction, HTTPGetAction } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Handler, ProbeOutcome, Prober, Target } from './prober.ts'

const success = (output = ''): ProbeOutcome => ({ isSuccess: true, output })
const failure = (output: string): ProbeOutcome => ({ isSuccess: false, output })
const errorText = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** The maximum length of a probe's output in an event. */
const longestOutput = 10 * 1024

/** Probes containers: exec probes through the runtime, all others over the network at the pod's address. */
export function networkProber(runtime: Runtime, clock: Clock): Prober {
  const run = (handler: Handler, target: Target, timeoutSeconds: number): Promise<ProbeOutcome> => {
    if (handler.exec) return runCommand(runtime, target.container.id, handler.exec.command ?? [], timeoutSeconds)
    if (handler.httpGet) return get(handler.httpGet, target, { clock, timeoutSeconds })
    if (handler.tcpSocket)
      return dial(handler.tcpSocket.host || target.podIp, portOf(handler.tcpSocket.port, target.spec), {
        clock,
        timeoutSeconds,
      })
    if (handler.grpc) return askHealth(handler.grpc, target, { clock, timeoutSeconds })
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

interface Limit {
  clock: Clock
  timeoutSeconds: number
}

/**
 * Resolves with the first outcome that the connection reports, or with `late` when the time is over, however much the
 * other side has sent by then. The connection is closed in either case.
 */
function limited(
  { clock, timeoutSeconds }: Limit,
  late: string,
  open: (end: (outcome: ProbeOutcome) => void) => { destroy(): unknown },
): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const end = (outcome: ProbeOutcome) => {
      cancel()
      connection.destroy()
      resolve(outcome)
    }
    const connection = open(end)
    const cancel = clock.after(timeoutSeconds * 1000, () => end(failure(late)))
  })
}

function get(action: HTTPGetAction, { podIp, spec }: Target, limit: Limit): Promise<ProbeOutcome> {
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
  const options = { host, port, path: action.path ?? '/', headers, agent: false as const, rejectUnauthorized: false }
  const late = `Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`
  return limited(limit, late, (end) => {
    const failed = (e: Error) => end(failure(`Get "${url}": ${e.message}`))
    const request = (isSecure ? httpsRequest : httpRequest)(options, (answer) => {
      const code = answer.statusCode ?? 0
      const outcome = code >= 200 && code < 400 ? success() : failure(`HTTP probe failed with statuscode: ${code}`)
      // As kubelet, the probe reads the body, but not more than it would show.
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes >= longestOutput) end(outcome)
      })
      answer.once('end', () => end(outcome))
      answer.on('error', failed)
    })
    request.on('error', failed)
    return request.end()
  })
}

function dial(host: string, port: number, limit: Limit): Promise<ProbeOutcome> {
  return limited(limit, `dial tcp ${host}:${port}: i/o timeout`, (end) =>
    connectTcp({ host, port })
      .on('connect', () => end(success()))
      .on('error', (e) => end(failure(`dial tcp ${host}:${port}: ${e.message}`))),
  )
}

/** Calls the standard gRPC health service over HTTP/2 without TLS. */
function askHealth({ port, service }: GRPCAction, { podIp }: Target, limit: Limit): Promise<ProbeOutcome> {
  const at = `service "${podIp}:${port}"`
  const late = `timeout: failed to connect ${at} within ${limit.timeoutSeconds}s: context deadline exceeded`
  return limited(limit, late, (end) => {
    const session = connectHttp2(`http://${podIp}:${port}`)
    session.on('error', (e) => end(failure(`failed to connect ${at}: ${e.message}`)))
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const chunks: Buffer[] = []
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= longestOutput)
        end(failure(`error: health rpc failed: the answer has more than ${longestOutput} bytes`))
    })
    stream.on('error', (e) => end(failure(`error: health rpc failed: ${e.message}`)))
    stream.on('end', () => {
      if (bytes === 0) end(failure('error: health rpc failed: there is no answer'))
      else if (isServing(Buffer.concat(chunks))) end(success('service healthy'))
      else end(failure('service unhealthy (responded with "NOT_SERVING")'))
    })
    // A connection may close without an error and without an end.
    stream.on('close', () => end(failure('error: health rpc failed: the connection was closed')))
    stream.end(grpcHealthFrame(service ?? ''))
    return session
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
