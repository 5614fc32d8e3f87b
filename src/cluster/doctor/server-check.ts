import { type X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import path from 'node:path'
import { type TLSSocket, checkServerIdentity } from 'node:tls'
import { type Check, type Finding, type Patient, dayMs, ok, problem, warning } from './finding.ts'

/** Queries the running server, or checks that the port is free. */
export const checkServer: Check = (patient) =>
  patient.running ? askServer(patient, patient.running.status.url) : tryPort(patient)

function tryPort({ bindAddress, securePort }: Patient): Promise<Finding[]> {
  const where = `${bindAddress}:${securePort}`
  const remedies: Readonly<Record<string, string>> = {
    EADDRINUSE: 'Stop the program that listens there, or choose another --secure-port',
    EACCES: 'Ports below 1024 require root: choose another --secure-port',
    EADDRNOTAVAIL: 'The address does not belong to this machine: choose another --bind-address',
  }
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      resolve([
        problem(
          'ports',
          `no server can listen on ${where}: ${message}`,
          remedies[code] ?? 'Choose another --bind-address or --secure-port',
        ),
      ])
    })
    server.listen(securePort, bindAddress, () =>
      server.close(() => resolve([ok('ports', `no server runs; ${where} is free`)])),
    )
  })
}

const patienceMs = 10_000

interface Answer {
  code: number
  text: string
  certificate: X509Certificate | undefined
  /** Reason why the certificate is not signed by the cluster's CA. */
  chainProblem: string | undefined
}

async function askServer({ dataDir, running, nowMs }: Patient, url: string): Promise<Finding[]> {
  const pid = running!.status.pid
  const stuck = 'Check its log, stop it, and start it again'
  try {
    const answer = await ask(new URL('/readyz?verbose', url), readFileSync(path.join(dataDir, 'pki', 'ca.crt')))
    return [readiness(url, pid, answer), certificateOf(new URL(url).hostname, answer, nowMs)]
  } catch (e) {
    return [problem('server', `process ${pid} does not answer at ${url}: ${(e as Error).message}`, stuck)]
  }
}

function ask(url: URL, authority: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // An invalid certificate is a finding of its own; the request continues.
    const request = get(
      url,
      { ca: authority, rejectUnauthorized: false, agent: false, timeout: patienceMs },
      (response) => {
        const socket = response.socket as TLSSocket
        const certificate = socket.getPeerX509Certificate()
        const chainProblem = socket.authorizationError ? String(socket.authorizationError) : undefined
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text, certificate, chainProblem }))
        response.on('error', reject)
      },
    )
    request.on('timeout', () => request.destroy(new Error(`no answer within ${patienceMs / 1000} s`)))
    request.on('error', reject)
  })
}

function readiness(url: string, pid: number, { code, text }: Answer): Finding {
  if (code === 200) return ok('server', `process ${pid} serves ${url} and is ready`)
  const failed = text
    .split('\n')
    .filter((line) => line.startsWith('[-]'))
    .map((line) => line.slice(3))
  return problem(
    'server',
    `process ${pid} serves ${url} and is not ready: ${failed.join('; ') || `HTTP ${code}`}`,
    'Check its log; it may become ready without intervention',
  )
}

function certificateOf(host: string, { certificate, chainProblem }: Answer, nowMs: number): Finding {
  const renew = 'Restart the server: it issues a new certificate'
  if (!certificate) return problem('server', 'the server presents no certificate', renew)
  if (chainProblem !== undefined)
    return problem('server', `the server's certificate is not trusted: ${chainProblem}`, renew)
  const legacy = certificate.toLegacyObject()
  const wrong = ['kubernetes.default.svc', 'localhost', host.replace(/^\[|\]$/g, '')]
    .map((name) => checkServerIdentity(name, legacy))
    .find((e) => e !== undefined)
  if (wrong) return problem('server', `the server's certificate is not valid for its address: ${wrong.message}`, renew)
  const leftMs = Date.parse(certificate.validTo) - nowMs
  if (leftMs < 7 * dayMs) return warning('server', `the server's certificate expires on ${certificate.validTo}`, renew)
  return ok(
    'server',
    `its certificate names ${host} and is valid until ${new Date(Date.parse(certificate.validTo)).toISOString().slice(0, 10)}`,
  )
}
