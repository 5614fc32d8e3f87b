import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'
import { type Right, resourceText, selectedName } from '../integration/stock/rights.ts'

/** The part of an audit event that tests of rights read. */
export interface AuditEvent {
  verb: string
  requestURI: string
  user: { username: string }
  objectRef?: { apiGroup?: string; resource?: string; subresource?: string; namespace?: string; name?: string }
  annotations?: Record<string, string>
}

/** The audit log of some users, for the tests of one file. */
export interface AuditLog {
  /** The flags with which a server writes it. */
  readonly flags: readonly string[]
  events(): AuditEvent[]
}

/** Makes a server log the requests of these users. */
export function useAuditLog(users: readonly string[]): AuditLog {
  const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-audit-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const [log, policy] = [path.join(dir, 'audit.log'), path.join(dir, 'policy.yaml')]
  writeFileSync(policy, `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: [${users.map((user) => JSON.stringify(user)).join(', ')}]
`)
  return { flags: ['--audit-policy-file', policy, '--audit-log-path', log], events: () => eventsIn(log) as AuditEvent[] }
}

/** The events in a log. The text after the last newline is an event that the server has not written completely. */
export const eventsIn = (log: string): unknown[] => readFileSync(log, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as unknown)

/** The right that a request needed. */
export const rightIn = ({ verb, requestURI, objectRef: { apiGroup, resource, subresource, namespace, name } = {} }: AuditEvent): Right => ({
  verb, resource: resourceText(apiGroup, resource, subresource), namespace, name: name ?? selectedName(new URL(requestURI, 'https://server').searchParams.get('fieldSelector')),
})

export const isRefused = ({ annotations }: AuditEvent): boolean => annotations?.['authorization.k8s.io/decision'] === 'forbid'
