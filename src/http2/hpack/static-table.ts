/** A header field. The name is in lower case; the value is a Latin-1 string. */
export interface Field {
  readonly name: string
  readonly value: string
}

const methods = [
  [':method', 'GET'],
  [':method', 'POST'],
] as const
const paths = [
  [':path', '/'],
  [':path', '/index.html'],
] as const
const schemes = [
  [':scheme', 'http'],
  [':scheme', 'https'],
] as const
const statuses = ['200', '204', '206', '304', '400', '404', '500'].map((code) => [':status', code] as const)
const names =
  'accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control content-disposition ' +
  'content-encoding content-language content-length content-location content-range content-type cookie date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range referer ' +
  'refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate'

/** RFC 7541, appendix A: the fields with a fixed index, counted from 1. */
export const staticTable: readonly Field[] = [
  [':authority', ''] as const,
  ...methods,
  ...paths,
  ...schemes,
  ...statuses,
  ...names.split(' ').map((name) => [name, name === 'accept-encoding' ? 'gzip, deflate' : ''] as const),
].map(([name, value]) => ({ name, value }))
