export { Auditor } from './auditor.ts'
export { AuditedRequest, type Arrival } from './audited-request.ts'
export { sourceIPs } from './event.ts'
export { type LogFileOptions, openLogFile, streamLog } from './log-file.ts'
export { type Policy, readPolicy } from './policy.ts'
export {
  type AuditBackend,
  type AuditMode,
  AuditSink,
  type BatchOptions,
  type SinkOptions,
  type TruncateOptions,
} from './sink.ts'
export { type Post, webhookBackend } from './webhook.ts'
