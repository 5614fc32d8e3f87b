import { type Clock, turnsOf } from '../../../base/clock.ts'
import type { Status } from '../../../api/errors.ts'
import { type Arrival, type AuditedRequest, sourceIPs } from '../../audit/index.ts'
import type { Result } from '../../requests/request.ts'
import type { What } from '../../requests/resolve.ts'
import { encodeResult } from '../answer/encode.ts'
import type { Exchange } from './exchange.ts'
import type { Accepted } from '../answer/negotiate.ts'

/** An HTTP request in the form that audit events need. */
export function arrivalOf(
  exchange: Exchange,
  id: string,
  path: string,
  what: What | undefined,
  startedMs: number,
): Arrival {
  return {
    id,
    method: exchange.method,
    uri: exchange.url,
    path,
    what,
    startedMs,
    sourceIPs: () => sourceIPs((name) => exchange.header(name), exchange.remoteAddress),
    userAgent: () => exchange.header('user-agent'),
    attempted: () => attempted(exchange),
  }
}

function attempted(exchange: Exchange): string[] {
  const [scheme = ''] = (exchange.header('authorization') ?? '').split(' ')
  const known = ['basic', 'bearer'].includes(scheme.toLowerCase()) ? [scheme.toLowerCase()] : []
  return exchange.certificate ? [...known, 'x509'] : known
}

type Answer = Exclude<Result, { kind: 'watch' | 'relay' }>

const plainJson: Accepted = { format: 'json', contentType: 'application/json', pretty: false }

/** Passes the response to audit: a Status always, other objects only if the policy includes responses. */
export function answerText(
  audit: AuditedRequest,
  result: Answer,
  { transform }: Pick<Accepted, 'transform'>,
  query: URLSearchParams,
  clock: Clock,
): Promise<void> | undefined {
  if (result.kind === 'value' && (result.value as Partial<Status>).kind === 'Status')
    audit.answeredStatus(result.value as Status)
  if (!audit.wantsResponse || result.kind === 'text') return undefined
  return tellWhole(audit, result, transform, query, clock)
}

async function tellWhole(
  audit: AuditedRequest,
  result: Answer,
  transform: Accepted['transform'],
  query: URLSearchParams,
  clock: Clock,
): Promise<void> {
  const accepted = transform ? { ...plainJson, transform } : plainJson
  const { body } = await encodeResult(result, accepted, query, clock.now(), false, { turns: turnsOf(clock) })
  const pieces: Buffer[] = []
  for await (const piece of body.pieces) pieces.push(piece)
  audit.answered(Buffer.concat(pieces).toString())
}
