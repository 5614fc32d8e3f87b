import type { PodSpec, WindowsSecurityContextOptions } from '../../generated/types.ts'
import { type FieldError, forbidden, invalid } from '../../validation/field-error.ts'
import { byteLength, isDns1123Subdomain } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { visitContainers } from './visit-containers.ts'

const maxCredentialSpec = 64 * 1024
const maxDomain = 256
const maxUser = 104

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const controlCharacters = /[\u0000-\u001f\u007f]/
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dns = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/
const invalidUserCharacters = /["/\\:;|=,+*?<>@[\]]/
const onlyDotsAndSpaces = /^[. ]+$/

function userNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (controlCharacters.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts.at(-1)!
  const domain = parts.length === 2 ? parts[0]! : undefined
  const problems: string[] = []
  if (domain !== undefined && byteLength(domain) >= maxDomain) {
    problems.push(`runAsUserName's Domain length must be under ${maxDomain} characters`)
  }
  if (domain !== undefined && !netBios.test(domain) && !dns.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  if (user === '') problems.push("runAsUserName's User cannot be empty")
  else if (byteLength(user) > maxUser)
    problems.push(`runAsUserName's User length must not be longer than ${maxUser} characters`)
  if (onlyDotsAndSpaces.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces")
  if (invalidUserCharacters.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return problems
}

/** Validates the options for Windows. */
export function validateWindowsOptions(options: WindowsSecurityContextOptions, path: Path, errors: FieldError[]): void {
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName } = options
  if (specName !== undefined) {
    for (const problem of isDns1123Subdomain(specName))
      errors.push(invalid(path.child('gmsaCredentialSpecName'), specName, problem))
  }
  if (spec === '')
    errors.push(invalid(path.child('gmsaCredentialSpec'), spec, 'gmsaCredentialSpec cannot be an empty string'))
  else if (spec !== undefined && byteLength(spec) > maxCredentialSpec) {
    errors.push(
      invalid(
        path.child('gmsaCredentialSpec'),
        spec,
        `gmsaCredentialSpec size must be under ${maxCredentialSpec / 1024} KiB`,
      ),
    )
  }
  if (runAsUserName === undefined) return
  for (const problem of userNameProblems(runAsUserName))
    errors.push(invalid(path.child('runAsUserName'), runAsUserName, problem))
}

/**
 * If one container is a Windows host process, all containers of the pod must be, and the pod must use the host's
 * network. This server's policy disallows them anyway.
 */
export function validateHostProcess(spec: PodSpec, path: Path, errors: FieldError[]): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  let containers = 0
  let hostProcesses = 0
  visitContainers(spec, path, (container, at) => {
    containers++
    const own = container.securityContext?.windowsOptions?.hostProcess
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const message = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      errors.push(invalid(at.child('securityContext', 'windowsOptions', 'hostProcess'), own, message))
    }
    if (own ?? ofPod) hostProcesses++
  })
  if (hostProcesses === 0) return
  if (hostProcesses !== containers) {
    errors.push(
      invalid(
        path,
        '',
        'If pod contains any hostProcess containers then all containers must be HostProcess containers',
      ),
    )
  }
  if (!spec.hostNetwork) {
    errors.push(
      invalid(path.child('hostNetwork'), false, 'hostNetwork must be true if pod contains any hostProcess containers'),
    )
  }
  errors.push(forbidden(path, 'hostProcess containers are disallowed by cluster policy'))
}
