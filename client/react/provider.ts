// The client in the tree of an app.
import { createContext, createElement, useContext, useEffect } from 'react';
import type { ReactNode } from 'react';
import type { TidemarkClient } from '../client.ts';

const Context = createContext<TidemarkClient | null>(null);

export interface TidemarkProviderProps {
  /** Made once, outside of the components; the app closes it when it is done with it. */
  client: TidemarkClient;
  children?: ReactNode;
}

/** Connects while it is mounted. A double mount in StrictMode opens one socket; on a server nothing happens. */
export function TidemarkProvider({ client, children }: TidemarkProviderProps): ReactNode {
  useEffect(() => {
    if (client.stopped === null) client.connect();
    return () => client.disconnect();
  }, [client]);
  return createElement(Context, { value: client }, children);
}

export function useTidemark(): TidemarkClient {
  const client = useContext(Context);
  if (client === null) throw new Error('useTidemark: there is no TidemarkProvider above');
  return client;
}
