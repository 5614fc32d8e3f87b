import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { type ClusterAccess, loadAccess } from '../../client/index.ts'
import {
  type AuditBackend,
  type AuditMode,
  AuditSink,
  Auditor,
  type BatchOptions,
  type TruncateOptions,
  openLogFile,
  readPolicy,
  streamLog,
  webhookBackend,
} from '../../server/index.ts'
import { readFlagFile } from './flag-files.ts'

/** Flags of an audit backend. */
export interface AuditBackendFlags {
  mode: AuditMode
  batch: BatchOptions
  truncate: TruncateOptions | undefined
}

/** Flags of auditing: the policy and the backends. */
export interface AuditFlags {
  policyFile: string
  log: (AuditBackendFlags & { path: string; maxAgeMs: number; maxBackups: number; maxBytes: number }) | undefined
  webhook: (AuditBackendFlags & { configFile: string; initialBackoffMs: number }) | undefined
}

interface Around {
  clock: Clock
  random: Random
  logger: Logger
}

/** Opens the audit backends; undefined if there are none. Rejects with an error that names the invalid flag. */
export async function openAudit(flags: AuditFlags, around: Around): Promise<Auditor | undefined> {
  const { clock, logger } = around
  const policy = readPolicyFile(flags.policyFile, logger)
  const outlets: { flags: AuditBackendFlags; backend: AuditBackend }[] = []
  if (flags.webhook) outlets.push({ flags: flags.webhook, backend: await openWebhook(flags.webhook, around) })
  if (flags.log) outlets.unshift({ flags: flags.log, backend: openLog(flags.log, around) })
  if (outlets.length === 0) {
    logger.warn('audit policy without --audit-log-path or --audit-webhook-config-file: no events are recorded')
    return undefined
  }
  const sinks = (onError: ConstructorParameters<typeof AuditSink>[0]['onError']) =>
    outlets.map(
      ({ flags: { mode, batch, truncate }, backend }) =>
        new AuditSink({ backend, mode, batch, truncate, clock, onError }),
    )
  return new Auditor({ policy, clock, logger, sinks })
}

function readPolicyFile(file: string, logger: Logger) {
  const text = readFlagFile('--audit-policy-file', file)
  try {
    return readPolicy(text, (warning) => logger.warn(warning, { file }))
  } catch (e) {
    throw new Error(`--audit-policy-file: loading audit policy file: ${(e as Error).message}: from file ${file}`, {
      cause: e,
    })
  }
}

function openLog(
  { path, maxAgeMs, maxBackups, maxBytes }: NonNullable<AuditFlags['log']>,
  { clock, logger }: Around,
): AuditBackend {
  if (path === '-') return streamLog(process.stdout)
  const onProblem = (error: Error) => logger.warn('failed to remove old audit logs', { error: error.message })
  try {
    return openLogFile({ file: path, maxAgeMs, maxBackups, maxBytes, clock, onProblem })
  } catch (e) {
    throw new Error(`--audit-log-path: ${(e as Error).message}`, { cause: e })
  }
}

async function openWebhook(
  { configFile, initialBackoffMs }: NonNullable<AuditFlags['webhook']>,
  { clock, random }: Around,
): Promise<AuditBackend> {
  const access = await loadAccess({ file: configFile, clock }).catch((e: unknown) => {
    throw new Error(`--audit-webhook-config-file: ${(e as Error).message}`, { cause: e })
  })
  return webhookBackend({ post: (body) => post(access, body), clock, random, initialBackoffMs })
}

const answerMs = 30_000

/** Posts JSON to the server of a kubeconfig, as its user. Resolves with the status code. */
async function post(access: ClusterAccess, body: Buffer): Promise<number> {
  const { authorization, certificate } = await access.credentials.current()
  const { server } = access
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(authorization ? { authorization } : {}),
  }
  const tls = {
    ca: access.authority(),
    rejectUnauthorized: !access.insecureSkipTlsVerify,
    ...(access.tlsServerName ? { servername: access.tlsServerName } : {}),
    ...(certificate ? { cert: certificate.certificate, key: certificate.key } : {}),
  }
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, timeout: answerMs }
    const sent =
      server.protocol === 'http:' ? httpRequest(server, options) : httpsRequest(server, { ...options, ...tls })
    sent.once('response', (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', reject)
    })
    sent.once('timeout', () => sent.destroy(new Error('the audit webhook did not answer in time')))
    sent.once('error', reject)
    sent.end(body)
  })
}
