import { Environment } from './environment.ts'
import { authorizer } from './libraries/authorizer.ts'
import { conversions } from './libraries/conversions.ts'
import { formatLibrary } from './libraries/formats.ts'
import { lists } from './libraries/lists.ts'
import { network } from './libraries/network.ts'
import { operators } from './libraries/operators.ts'
import { optionals } from './libraries/optionals.ts'
import { quantity } from './libraries/quantity.ts'
import { regex } from './libraries/regex.ts'
import { semver } from './libraries/semver.ts'
import { sets } from './libraries/sets.ts'
import { standard } from './libraries/standard.ts'
import { strings } from './libraries/strings.ts'
import { timeLibrary } from './libraries/time.ts'
import { urls } from './libraries/url.ts'

/** The language without extensions. */
export const coreLibraries = [operators, standard, conversions, timeLibrary]

/** The functions that Kubernetes 1.36 lets every expression use. */
export const kubernetesLibraries = [
  ...coreLibraries,
  optionals,
  strings,
  lists,
  sets,
  regex,
  urls,
  network,
  quantity,
  semver,
  formatLibrary,
  authorizer,
]

/** The environment of Kubernetes' expressions, without variables. */
export const kubernetesEnvironment = Environment.of({ libraries: kubernetesLibraries })
