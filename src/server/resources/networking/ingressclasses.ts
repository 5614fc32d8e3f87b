import { kindNames } from '../../../api/kind-names.ts'
import type { IngressClass, IngressClassParametersReference } from '../../../api/generated/types.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../api/validation/field-error.ts'
import {
  byteLength,
  isDns1123Label,
  isDns1123Subdomain,
  regexMessage,
  subdomainName,
} from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { validateTypedReference } from './ingress-validation.ts'

const controllerPath = Path.of('spec', 'controller')
const maxControllerBytes = 250
const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

/** Validates a controller name such as `example.com/controller`. */
function validateController(controller: string): FieldError[] {
  const errors = byteLength(controller) > maxControllerBytes ? [tooLong(controllerPath, maxControllerBytes)] : []
  if (controller === '') return [...errors, required(controllerPath)]
  const at = controller.indexOf('/')
  const [domain, path] = [controller.slice(0, at), controller.slice(at + 1)]
  if (at < 1 || path === '') {
    return [...errors, invalid(controllerPath, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  errors.push(...isDns1123Subdomain(domain).map((p) => invalid(controllerPath, domain, p)))
  if (!new RegExp(`^${pathPattern}$`).test(path))
    errors.push(invalid(controllerPath, path, regexMessage('Invalid path', pathPattern)))
  return errors
}

function validateParameters(parameters: IngressClassParametersReference, path: Path): FieldError[] {
  const { scope, namespace } = parameters
  const errors = validateTypedReference(parameters, path)
  const namespacePath = path.child('namespace')
  if (scope === undefined) return [...errors, required(path.child('scope'))]
  if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(namespacePath, "`parameters.scope` is set to 'Namespace'"))
    else errors.push(...isDns1123Label(namespace).map((p) => invalid(namespacePath, namespace, p)))
  } else if (scope === 'Cluster') {
    if (namespace !== undefined) errors.push(forbidden(namespacePath, "`parameters.scope` is set to 'Cluster'"))
  } else {
    errors.push(notSupported(path.child('scope'), scope, ['Cluster', 'Namespace']))
  }
  return errors
}

const validate = ({ spec = {} }: IngressClass): FieldError[] => [
  ...validateController(spec.controller ?? ''),
  ...(spec.parameters ? validateParameters(spec.parameters, Path.of('spec', 'parameters')) : []),
]

function parametersText({ spec }: IngressClass): string {
  const parameters = spec?.parameters
  if (!parameters) return '<none>'
  const { apiGroup, kind, name } = parameters
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`
}

export const ingressclasses = defineResource<IngressClass>({
  ...kindNames.ingressclasses,
  nameRule: subdomainName,
  defaults({ spec }) {
    if (spec?.parameters) spec.parameters.scope ??= 'Cluster'
  },
  validate,
  validateUpdate: (obj, old) => [
    ...validateImmutableField(obj.spec?.controller, old.spec?.controller, controllerPath),
    ...validate(obj),
  ],
  generation: true,
  columns: [
    nameColumn(),
    {
      name: 'Controller',
      type: 'string',
      description: 'Controller that is responsible for handling this class',
      cell: (obj) => obj.spec?.controller ?? '',
    },
    {
      name: 'Parameters',
      type: 'string',
      description: 'A reference to a resource with additional parameters',
      cell: parametersText,
    },
    ageColumn(),
  ],
})
