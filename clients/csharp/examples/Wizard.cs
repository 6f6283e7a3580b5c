using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Rossum.Oz;

/// <summary>
/// A small Wizard of Oz: looks at the nearest person, greets newcomers, and answers what they say.
/// <code>
/// rossum serve --scenario oz
/// mcs -reference:Rossum.Oz.dll Wizard.cs
/// mono Wizard.exe --say "[braisel]Good morning. [yesl]How nice to see you."
/// </code>
/// </summary>
internal sealed class Wizard
{
    /// <summary>Time without a face, after which the next person is greeted.</summary>
    private static readonly TimeSpan GreetAgain = TimeSpan.FromSeconds(30);

    /// <summary>Recognised words and the replies to them; the first match wins.</summary>
    private static readonly KeyValuePair<string, string>[] Answers =
    {
        new KeyValuePair<string, string>("name", "[braises]I am Alice."),
        new KeyValuePair<string, string>("no", "[nos3]No? [yesl]As you like."),
        new KeyValuePair<string, string>("you", "[wob]I am well, thank you. [braisel]And you?"),
    };

    private readonly OzClient robot;
    private readonly TaskCompletionSource<OzException> end = new TaskCompletionSource<OzException>();
    private int faces;
    private DateTime lastFace = DateTime.MinValue;

    private Wizard(OzClient robot)
    {
        this.robot = robot;
        robot.Disconnected += (sender, e) => end.SetResult(e.Reason);
        robot.Faces += (sender, e) => Look(e.Faces);
        robot.Utterance += (sender, e) => Reply(e.Text);
        robot.SpeakGesture += (sender, e) => Console.WriteLine("makes gesture " + e.Gesture);
        robot.SpeakDone += (sender, e) =>
        {
            Console.WriteLine("has spoken");
            robot.Expression = Expression.Neutral;
        };
    }

    /// <summary>Options: --robot ADDRESS, and --say TEXT for what to say first.</summary>
    private static int Main(string[] arguments)
    {
        var address = Option(arguments, "--robot", "127.0.0.1:" + Protocol.Port).Split(':');
        try
        {
            OperateAsync(address[0], int.Parse(address[1]), Option(arguments, "--say", null)).GetAwaiter().GetResult();
            return 0;
        }
        catch (OzException error)
        {
            Console.Error.WriteLine(error.Message);
            return 1;
        }
    }

    private static string Option(string[] arguments, string name, string otherwise)
    {
        var at = Array.IndexOf(arguments, name);
        return at >= 0 && at + 1 < arguments.Length ? arguments[at + 1] : otherwise;
    }

    private static async Task OperateAsync(string host, int port, string say)
    {
        using (var robot = new OzClient(host, port) { SkipVideo = true })
        {
            var wizard = new Wizard(robot);
            await robot.ConnectAsync();
            Console.WriteLine($"operating {robot.Name}: {robot.LongName}");
            robot.LookAt = LookAt.Largest;
            robot.RandomEyesWeight = 0.3; // eyes that never move look dead
            if (say != null)
            {
                await robot.SpeakAsync(say);
            }
            throw await wizard.end.Task;
        }
    }

    private void Look(IReadOnlyList<Face> seen)
    {
        if (seen.Count != faces)
        {
            var names = seen.Select(face => face.Name == "" ? "somebody" : face.Name);
            Console.WriteLine("sees " + (seen.Count == 0 ? "nobody any more" : string.Join(", ", names)));
        }
        faces = seen.Count;
        if (faces == 0)
        {
            return;
        }
        if (DateTime.UtcNow - lastFace >= GreetAgain)
        {
            var nearest = seen.OrderByDescending(face => face.Width * face.Height).First();
            robot.Expression = Expression.Happy;
            robot.SpeakAsync($"[braises]Hello {nearest.Name}! [wob]Nice to see you.");
        }
        lastFace = DateTime.UtcNow;
    }

    private void Reply(string heard)
    {
        var words = Regex.Split(heard.ToLowerInvariant(), "[^a-z']+");
        var reply = Answers.Where(answer => words.Contains(answer.Key)).Select(answer => answer.Value).FirstOrDefault()
            ?? "[yess3]I see. [braisel]Tell me more.";
        Console.WriteLine($"hears \"{heard}\", says \"{reply}\"");
        robot.SpeakAsync(reply);
    }
}
