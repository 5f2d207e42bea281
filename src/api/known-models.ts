/** Models by name, where whoever runs the daemon has written down which a provider has. Of others nothing is known, and nothing refused. Pure. */
import { nearest } from '#lib/suggest.ts';
import { providerOfBackend } from './agent-provider.ts';

/** Undefined: nobody has said which there are. A name may end with `*`, for all that begin like this. */
export type KnownModels = (provider: string) => readonly string[] | undefined;

export interface ModelChoice {
  readonly backend: string;
  readonly provider?: string | null;
  readonly model?: string | null;
}

/** What is wrong with the model, and which there are; undefined: nothing that is known. */
export function whyUnknownModel({ backend, provider, model }: ModelChoice, known: KnownModels): string | undefined {
  const whose = provider ?? providerOfBackend(backend);
  const names = whose === undefined ? undefined : known(whose);
  if (typeof model !== 'string' || names === undefined || names.some((name) => fits(model, name))) return undefined;
  const meant = nearest(model, names);
  return `${JSON.stringify(model)}: provider ${whose} has ${names.join(', ')}${meant ? `; did you mean ${meant}?` : ''} (models in credentials.yaml)`;
}

function fits(model: string, name: string): boolean {
  return name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : model === name;
}
