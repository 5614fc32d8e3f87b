import type {
  AdmissionregistrationV1ServiceReference,
  AdmissionregistrationV1WebhookClientConfig,
} from '../../../api/generated/types.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1123Subdomain, isPortNumber } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'

const form = '; desired format: https://host[/path]'
/** Splits a URL into scheme, authority, path, query and fragment, as Go's net/url does. */
const urlPattern = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is

function urlProblem(url: string): string | undefined {
  const escape = /%(?![0-9a-f]{2}).{0,2}/i.exec(url)?.[0]
  if (escape !== undefined) return `parse ${JSON.stringify(url)}: invalid URL escape ${JSON.stringify(escape)}`
  const hasControl = [...url].some((letter) => letter < ' ' || letter === '\x7f')
  return hasControl ? `parse ${JSON.stringify(url)}: net/url: invalid control character in URL` : undefined
}

/** Validates the URL of a webhook. */
function validateUrl(url: string, path: Path): FieldError[] {
  const problem = urlProblem(url)
  if (problem) return [required(path, `url must be a valid URL: ${problem}${form}`)]
  const [, scheme = '', authority = '', , query = '', fragment = ''] = urlPattern.exec(url) ?? []
  const at = authority.lastIndexOf('@')
  const [user, host] = at < 0 ? [undefined, authority] : [authority.slice(0, at), authority.slice(at + 1)]
  const lower = scheme.toLowerCase()
  return [
    ...(lower === 'https' ? [] : [invalid(path, lower, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === '' ? [invalid(path, host, `host must be specified${form}`)] : []),
    ...(user === undefined ? [] : [invalid(path, user, 'user information is not permitted in the URL')]),
    ...(fragment ? [invalid(path, fragment, 'fragments are not permitted in the URL')] : []),
    ...(query ? [invalid(path, query, 'query parameters are not permitted in the URL')] : []),
  ]
}

/** Validates the path of a webhook service, such as `/a/b`. Each segment must be a DNS subdomain. */
function validateServicePath(text: string, path: Path): FieldError[] {
  if (text === '' || text === '/') return []
  if (text === '//') return [invalid(path, text, 'segment[0] may not be empty')]
  const steps = text.slice(1).replace(/\/$/, '').split('/')
  return [
    ...(text.startsWith('/') ? [] : [invalid(path, text, "must start with a '/'")]),
    ...steps.flatMap((step, i) => {
      if (step === '') return [invalid(path, text, `segment[${i}] may not be empty`)]
      return isDns1123Subdomain(step).map((problem) => invalid(path, text, `segment[${i}]: ${problem}`))
    }),
  ]
}

function validateService(service: AdmissionregistrationV1ServiceReference, path: Path): FieldError[] {
  const { name, namespace, port = 0 } = service
  const portProblems = isPortNumber(port)
  return [
    ...(name ? [] : [required(path.child('name'), 'service name is required')]),
    ...(namespace ? [] : [required(path.child('namespace'), 'service namespace is required')]),
    ...(portProblems.length ? [invalid(path.child('port'), port, `port is not valid: ${portProblems.join(',')}`)] : []),
    ...validateServicePath(service.path ?? '', path.child('path')),
  ]
}

/** Validates the address of a webhook: a URL or a service. */
export function validateClientConfig(config: AdmissionregistrationV1WebhookClientConfig, path: Path): FieldError[] {
  const { url, service } = config
  if ((url === undefined) === (service === undefined))
    return [required(path, 'exactly one of url or service is required')]
  return url === undefined ? validateService(service!, path.child('service')) : validateUrl(url, path.child('url'))
}
